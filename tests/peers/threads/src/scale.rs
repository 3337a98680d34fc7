//! The cost of an operation while more and more threads live: figures for the terminal, a drawing for the docs.

use std::fmt::Write as _;
use std::path::Path;

use crate::contestants;
use crate::table::median;

const OPERATIONS: [(&str, &str); 3] = [
    ("yield", "#1b6ca8"),
    ("channel", "#c2571a"),
    ("spawn-join", "#3f7d20"),
];
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const MARGIN: f64 = 60.0;

/// One operation's cost at each number of live threads.
struct Line {
    operation: &'static str,
    colour: &'static str,
    points: Vec<(u64, f64)>,
}

/// Measures and draws.
pub(crate) fn draw(file: &Path, most: u64, rounds: usize) -> Result<(), String> {
    let found = contestants::find()?;
    let ours = found.first().ok_or("ours is always there")?;
    let counts: Vec<u64> = std::iter::successors(Some(1000), |count| Some(count * 10))
        .take_while(|count| *count <= most)
        .collect();
    let mut lines = Vec::new();
    for (operation, colour) in OPERATIONS {
        let mut points = Vec::new();
        for count in &counts {
            let mut costs = Vec::new();
            for _ in 0..rounds.max(1) {
                let live = count.to_string();
                let run = ours.run(&[operation], "2", &[("LIVE", &live)])?;
                costs.extend(run.and_then(|run| run.figures.get("ns").copied()));
            }
            println!(
                "{operation} with {count} threads parked: {:.1} ns",
                median(&costs)
            );
            points.push((*count, median(&costs)));
        }
        lines.push(Line {
            operation,
            colour,
            points,
        });
    }
    std::fs::write(file, svg(&lines)).map_err(|error| format!("{}: {error}", file.display()))
}

fn svg(lines: &[Line]) -> String {
    let points = || lines.iter().flat_map(|line| &line.points);
    let top = points().map(|point| point.1).fold(1.0, f64::max) * 1.1;
    let (first, last) = points().fold((f64::INFINITY, 0.0), |(first, last), point| {
        let at = (point.0 as f64).log10();
        (f64::min(first, at), f64::max(last, at))
    });
    let x = |count: u64| {
        let part = ((count as f64).log10() - first) / f64::max(last - first, 1.0);
        MARGIN + part * (WIDTH - 2.0 * MARGIN)
    };
    let y = |cost: f64| HEIGHT - MARGIN - cost / top * (HEIGHT - 2.0 * MARGIN);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"14\">Nanoseconds per operation while so many threads are parked</text>\n"
    );
    for part in 0..=4 {
        let cost = top / 4.0 * f64::from(part);
        // Writing to a String cannot fail.
        let _ = writeln!(
            out,
            "<line x1=\"{MARGIN}\" x2=\"{}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#ddd\"/>\
             <text x=\"{}\" y=\"{y:.1}\" text-anchor=\"end\">{cost:.0}</text>",
            WIDTH - MARGIN,
            MARGIN - 8.0,
            y = y(cost),
        );
    }
    for line in lines {
        let path: Vec<_> = line
            .points
            .iter()
            .map(|p| format!("{:.1},{:.1}", x(p.0), y(p.1)))
            .collect();
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\"/>",
            path.join(" "),
            line.colour
        );
        if let Some(last) = line.points.last() {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\" fill=\"{}\">{}</text>",
                x(last.0),
                y(last.1) - 6.0,
                line.colour,
                line.operation
            );
        }
    }
    for (count, _) in lines.first().map_or(&[][..], |line| &line.points) {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{}\" text-anchor=\"middle\">{count}</text>",
            x(*count),
            HEIGHT - MARGIN + 20.0
        );
    }
    out + "</svg>\n"
}
