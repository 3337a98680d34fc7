//! One workload's figures: medians with least and most, and the ratio to the best of the others.

use std::collections::BTreeMap;

use crate::contestants::Run;

/// See the module's documentation.
pub(crate) struct Table {
    workload: String,
    /// In the order in which they came; ours is the first.
    rows: Vec<(&'static str, Row)>,
}

#[derive(Default)]
struct Row {
    figures: BTreeMap<String, Vec<f64>>,
    foreign: Vec<f64>,
    absent: Option<String>,
}

/// What is shown of each run, and how it is called.
const SHOWN: [(&str, &str); 6] = [
    ("ns", "ns each"),
    ("create_ms", "created, ms"),
    ("ms", "all, ms"),
    ("peak_kib", "peak, KiB"),
    ("max_us", "longest wait, us"),
    ("median_us", "median, us"),
];

impl Table {
    pub(crate) fn new(workload: &str) -> Self {
        Self {
            workload: workload.to_owned(),
            rows: Vec::new(),
        }
    }

    fn row(&mut self, name: &'static str) -> &mut Row {
        let place = self.rows.iter().position(|(known, _)| *known == name);
        let place = place.unwrap_or_else(|| {
            self.rows.push((name, Row::default()));
            self.rows.len() - 1
        });
        &mut self.rows[place].1
    }

    pub(crate) fn add(&mut self, name: &'static str, run: &Run) {
        let row = self.row(name);
        for (key, value) in &run.figures {
            row.figures.entry(key.clone()).or_default().push(*value);
        }
        row.foreign.push(run.foreign);
    }

    pub(crate) fn absent(&mut self, name: &'static str, reason: &str) {
        self.row(name).absent = Some(reason.to_owned());
    }

    pub(crate) fn print(&self) {
        let shown: Vec<_> = SHOWN
            .iter()
            .filter(|(key, _)| {
                self.rows
                    .iter()
                    .any(|(_, row)| row.figures.contains_key(*key))
            })
            .collect();
        println!("\n{}: median (least-most)", self.workload);
        print!("{:<8}", "");
        shown.iter().for_each(|(_, title)| print!("{title:>28}"));
        println!("{:>16}", "foreign cores");
        for (name, row) in &self.rows {
            print!("{name:<8}");
            if let Some(reason) = &row.absent {
                println!("  {reason}");
                continue;
            }
            for (key, _) in &shown {
                let cell = row
                    .figures
                    .get(*key)
                    .map_or_else(|| "-".to_owned(), |all| spread(all));
                print!("{cell:>28}");
            }
            println!("{:>16.2}", median(&row.foreign));
        }
        self.print_ratios(&shown);
    }

    fn print_ratios(&self, shown: &[&(&str, &str)]) {
        let of = |row: &Row, key: &str| row.figures.get(key).map(|all| median(all));
        let Some((ours, others)) = self.rows.split_first() else {
            return;
        };
        print!("{:<8}", "ratio");
        for (key, _) in shown {
            let best = others
                .iter()
                .filter_map(|(name, row)| Some((of(row, key)?, *name)))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let cell = match (of(&ours.1, key), best) {
                (Some(ours), Some((best, name))) if best > 0.0 => {
                    format!("{:.2} x {name}", ours / best)
                }
                _ => "-".to_owned(),
            };
            print!("{cell:>28}");
        }
        println!();
    }
}

pub(crate) fn median(all: &[f64]) -> f64 {
    let mut sorted = all.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.get(sorted.len() / 2).copied().unwrap_or(f64::NAN)
}

fn spread(all: &[f64]) -> String {
    let least = all.iter().copied().fold(f64::INFINITY, f64::min);
    let most = all.iter().copied().fold(0.0, f64::max);
    format!("{} ({}-{})", short(median(all)), short(least), short(most))
}

fn short(figure: f64) -> String {
    match figure {
        figure if figure < 100.0 => format!("{figure:.1}"),
        figure => format!("{figure:.0}"),
    }
}
