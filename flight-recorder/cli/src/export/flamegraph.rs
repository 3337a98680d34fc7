//! A flame graph as one SVG file without scripts: the outermost frame at the bottom, the width of a
//! frame its share, names and figures in the tooltips.

use std::io::{self, Write};

use super::collapsed::Stacks;
use crate::args::Weight;
use crate::text;

const WIDTH: f64 = 1_200.0;
const ROW: f64 = 17.0;
const TOP: f64 = 40.0;
/// A character's width, about.
const CHARACTER: f64 = 6.6;
/// Narrower frames cannot be seen.
const NARROWEST: f64 = 0.3;

#[derive(Default)]
struct Node {
    name: String,
    weight: u64,
    children: Vec<Node>,
}

impl Node {
    fn add(&mut self, frames: &[String], weight: u64) {
        self.weight += weight;
        let Some((first, rest)) = frames.split_first() else {
            return;
        };
        let at = self.children.iter().position(|child| child.name == *first);
        let at = at.unwrap_or_else(|| {
            self.children.push(Self {
                name: first.clone(),
                ..Self::default()
            });
            self.children.len() - 1
        });
        self.children[at].add(rest, weight);
    }

    fn depth(&self) -> usize {
        1 + self.children.iter().map(Self::depth).max().unwrap_or(0)
    }
}

pub(super) fn write(stacks: &Stacks, weight: Weight, out: &mut impl Write) -> io::Result<()> {
    let mut root = Node {
        name: "all pins".to_owned(),
        ..Node::default()
    };
    for (frames, weight) in stacks {
        root.add(frames, *weight);
    }
    let height = TOP + ROW * root.depth() as f64 + 10.0;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
         viewBox=\"0 0 {WIDTH} {height}\" font-family=\"monospace\" font-size=\"11\">"
    )?;
    let title = match weight {
        Weight::Duration => "Pinned time by stack",
        Weight::Stranded => "Time others were stranded, by stack",
        Weight::Count => "Pins by stack",
    };
    writeln!(
        out,
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    )?;
    writeln!(
        out,
        "<text x=\"10\" y=\"24\" font-size=\"15\">{title}</text>"
    )?;
    let total = root.weight.max(1);
    let place = Place {
        weight,
        total,
        bottom: height - 10.0 - ROW,
    };
    write_node(&root, 0, 0.0, &place, out)?;
    writeln!(out, "</svg>")
}

struct Place {
    weight: Weight,
    total: u64,
    bottom: f64,
}

fn write_node(
    node: &Node,
    level: usize,
    x: f64,
    place: &Place,
    out: &mut impl Write,
) -> io::Result<()> {
    let share = node.weight as f64 / place.total as f64;
    let width = share * WIDTH;
    if width < NARROWEST {
        return Ok(());
    }
    let y = place.bottom - ROW * level as f64;
    let figure = match place.weight {
        Weight::Count => node.weight.to_string(),
        _ => text::span(i64::try_from(node.weight).unwrap_or(i64::MAX)),
    };
    let (name, percent) = (escape(&node.name), share * 100.0);
    let fits = ((width - 6.0) / CHARACTER).max(0.0) as usize;
    let label: String = node.name.chars().take(fits).collect();
    let label = if fits < 3 {
        String::new()
    } else {
        escape(&label)
    };
    writeln!(
        out,
        "<g><title>{name}: {figure} ({percent:.1} %)</title>\
         <rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"{:.1}\" fill=\"{}\"/>\
         <text x=\"{:.1}\" y=\"{:.1}\">{label}</text></g>",
        ROW - 1.0,
        colour(&node.name),
        x + 3.0,
        y + 12.0,
    )?;
    let mut x = x;
    for child in &node.children {
        write_node(child, level + 1, x, place, out)?;
        x += child.weight as f64 / place.total as f64 * WIDTH;
    }
    Ok(())
}

/// A warm colour that a name keeps; waits are blue.
fn colour(name: &str) -> String {
    let sum = name.bytes().fold(7_u32, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    });
    if name.starts_with('[') {
        return format!("rgb(110,{},230)", 150 + sum % 50);
    }
    format!(
        "rgb({},{},{})",
        205 + sum % 50,
        100 + sum / 50 % 110,
        40 + sum / 7 % 40
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}
