module vtpeers

go 1.22
