module vtpeersio

go 1.22
