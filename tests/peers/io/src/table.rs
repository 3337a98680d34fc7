//! Medians of interleaved rounds, with least and most, and what ours is to the best of the others.

/// See the module's documentation.
pub(crate) struct Table {
    title: String,
    contestants: Vec<Contestant>,
    columns: Vec<&'static str>,
}

struct Contestant {
    name: &'static str,
    rounds: Vec<Vec<f64>>,
    foreign: Vec<f64>,
}

impl Table {
    /// Of the first column more is better, of the others less. The first contestant is ours.
    pub(crate) fn new(title: String, names: &[&'static str], columns: &[&'static str]) -> Self {
        let contestant = |&name: &&'static str| Contestant {
            name,
            rounds: Vec::new(),
            foreign: Vec::new(),
        };
        Self {
            title,
            contestants: names.iter().map(contestant).collect(),
            columns: columns.to_vec(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, figures: &[f64], foreign: f64) {
        for contestant in self.contestants.iter_mut().filter(|c| c.name == name) {
            contestant.rounds.push(figures.to_vec());
            contestant.foreign.push(foreign);
        }
    }

    pub(crate) fn print(&self) {
        println!("{}", self.title);
        print!("{:<8}", "");
        for column in &self.columns {
            print!("{column:>26}");
        }
        println!("{:>10}", "foreign");
        for contestant in &self.contestants {
            print!("{:<8}", contestant.name);
            for column in 0..self.columns.len() {
                let sorted = contestant.sorted(column);
                let (least, most) = (sorted[0], sorted[sorted.len() - 1]);
                let text = format!(
                    "{} ({}-{})",
                    short(middle(&sorted)),
                    short(least),
                    short(most)
                );
                print!("{text:>26}");
            }
            let mut foreign = contestant.foreign.clone();
            foreign.sort_by(f64::total_cmp);
            println!("{:>10.2}", middle(&foreign));
        }
        let Some((ours, others)) = self.contestants.split_first() else {
            return;
        };
        print!("{:<8}", "ratio");
        for column in 0..self.columns.len() {
            let better = |a: f64, b: f64| if column == 0 { a.max(b) } else { a.min(b) };
            let best = others
                .iter()
                .filter(|other| other.name != "std")
                .map(|other| middle(&other.sorted(column)))
                .reduce(better)
                .unwrap_or(f64::NAN);
            let ratio = middle(&ours.sorted(column)) / best;
            let text = match ratio.is_finite() {
                true => format!("{ratio:.2} x the best"),
                false => "-".to_owned(),
            };
            print!("{text:>26}");
        }
        println!("\n");
    }
}

impl Contestant {
    fn sorted(&self, column: usize) -> Vec<f64> {
        let mut figures: Vec<f64> = self.rounds.iter().map(|round| round[column]).collect();
        figures.sort_by(f64::total_cmp);
        figures
    }
}

fn middle(sorted: &[f64]) -> f64 {
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn short(figure: f64) -> String {
    match figure {
        large if large >= 1000.0 => format!("{large:.0}"),
        figure if figure >= 10.0 => format!("{figure:.1}"),
        small => format!("{small:.2}"),
    }
}
