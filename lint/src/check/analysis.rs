//! The stages of a run, in order: load, index, resolve, facts, flow, summaries, rules.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::check::{FileStatus, FileSummary, Statistics};
use crate::config::Config;
use crate::diagnostic::Finding;
use crate::flow::{
    self,
    body::{Body, How},
};
use crate::input::{CfgSet, CrateInput, Edition, Input, TargetKind};
use crate::knowledge::Knowledge;
use crate::model::cfg::Conditions;
use crate::model::facts::Model;
use crate::model::index::{FunctionId, Index, ValueId};
use crate::model::lower::{self, Context};
use crate::model::resolve::Names;
use crate::model::syntax::{FileSyntax, Swap};
use crate::model::tree::{self, SourceFile};
use crate::rules;
use crate::rules::hygiene::{suppression::Suppression, unparsed_source};
use crate::rules::repair;
use crate::rules::site::{Inherited, Site};
use crate::source::Text;
use crate::summary::Graph;

/// The stack of an analysing thread: syn and the walks recurse as deep as the code nests.
const STACK: usize = 256 << 20;

/// What a run finds out, before suppressions and levels.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    /// One finding a call site.
    pub(crate) findings: Vec<Finding>,
    /// All suppressions of all files.
    pub(crate) suppressions: Vec<Suppression>,
    /// All files.
    pub(crate) files: Vec<FileSummary>,
    /// Sizes.
    pub(crate) statistics: Statistics,
}

/// Runs all stages on threads with large stacks.
pub(crate) fn run(input: &Input<'_>, config: &Config) -> Analysis {
    let threads = rayon::current_num_threads();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .thread_name(|index| format!("vt-lint-{index}"));
    match pool.build() {
        Ok(pool) => pool.install(|| stages(input, config)),
        Err(_) => stages(input, config),
    }
}

fn stages(input: &Input<'_>, config: &Config) -> Analysis {
    let knowledge = Knowledge::built_in();
    let mut files = tree::load(input, &knowledge.macros);
    let of_input = files.len();
    let interfaces = describe(&knowledge, input.crates.len(), &mut files);
    let index = Index::build(input, &files, &interfaces);
    let names = Names::build(&index);
    let mut model = Model::build(index, names, &knowledge);
    model.configured = super::locks::configured(&model, &config.locks);
    super::locks::reveal_hidden(&mut model, &files);
    let model = model;
    let (parts, calls) = walk(&model, &files);
    let graph = Graph::build(&model, parts, config);
    let mut analysis = Analysis {
        findings: findings(&graph, &files),
        ..Analysis::default()
    };
    let mut seen = HashSet::new();
    for file in &files[..of_input] {
        summarize(file, &files, &mut seen, &mut analysis);
    }
    name_functions(&graph, &files, &mut analysis.suppressions);
    analysis.statistics.crates = input.crates.len();
    analysis.statistics.functions = graph.bodies.len();
    analysis.statistics.guards = graph.bodies.iter().map(|body| body.guards.len()).sum();
    analysis.statistics.calls = calls.all;
    analysis.statistics.resolved_calls = calls.resolved;
    analysis
}

/// Lowers the interface descriptions behind the files of the input.
fn describe(
    knowledge: &Knowledge,
    of_input: usize,
    files: &mut Vec<SourceFile>,
) -> Vec<(crate::model::name::Name, usize)> {
    let nobody = CrateInput {
        name: String::new(),
        package: None,
        package_name: String::new(),
        manifest: None,
        target_kind: TargetKind::Lib,
        root: std::path::PathBuf::new(),
        edition: Edition::E2021,
        features: Default::default(),
        declared_features: Default::default(),
        dependencies: Vec::new(),
        reported: false,
    };
    let set = CfgSet::new();
    let lowered: Vec<SourceFile> = knowledge
        .interfaces
        .par_iter()
        .enumerate()
        .map(|(number, (name, text))| {
            let conditions = Conditions::new(&set, &nobody);
            let nothing = HashMap::new();
            let context = Context {
                conditions: &conditions,
                table: &knowledge.macros,
                foreign: &nothing,
            };
            let syntax = lower::lower(text, Swap::Nothing, &context);
            debug_assert!(
                syntax.is_ok(),
                "the description of {name} does not parse: {:?}",
                syntax.as_ref().err()
            );
            SourceFile {
                krate: of_input + number,
                text: Text::new(name.as_str().into(), text.as_str().into()),
                syntax: syntax.unwrap_or_else(|_| FileSyntax::default()),
                children: Vec::new(),
                skipped: None,
                broken: None,
                asked_for: None,
                missing: Vec::new(),
            }
        })
        .collect();
    let first = files.len();
    files.extend(lowered);
    knowledge
        .interfaces
        .iter()
        .enumerate()
        .map(|(number, (name, _))| (*name, first + number))
        .collect()
}

/// Walks every function and initialiser of the input.
fn walk<'a>(model: &Model<'a>, files: &'a [SourceFile]) -> (Vec<Vec<Body>>, flow::Calls) {
    let is_described = |module: crate::model::index::ModuleId| {
        model.index.crates[model.index.modules[module.index()].krate].is_interface
    };
    let functions = (0..model.index.functions.len()).into_par_iter().map(|id| {
        let id = FunctionId(id as u32);
        if model.is_described(id) {
            Default::default()
        } else {
            flow::function(model, files, id)
        }
    });
    let values = (0..model.index.values.len()).into_par_iter().map(|id| {
        let id = ValueId(id as u32);
        if is_described(model.index.values[id.index()].module) {
            Default::default()
        } else {
            flow::initializer(model, files, id)
        }
    });
    let walked: Vec<(Vec<Body>, flow::Calls)> = functions.chain(values).collect();
    let mut calls = flow::Calls::default();
    let mut parts = Vec::with_capacity(walked.len());
    for (part, of_part) in walked {
        calls.all += of_part.all;
        calls.resolved += of_part.resolved;
        if !part.is_empty() {
            parts.push(part);
        }
    }
    (parts, calls)
}

/// A file and a byte in it.
type Spot = (usize, u32);

/// Asks the rules about every event; of several that fit one call site the first reports.
fn findings(graph: &Graph<'_, '_>, files: &[SourceFile]) -> Vec<Finding> {
    let inherited = inherited(graph);
    let orders = orders(graph);
    let nothing: Vec<Inherited> = Vec::new();
    let found: Vec<Vec<(Spot, usize, Finding)>> = (0..graph.bodies.len())
        .into_par_iter()
        .map(|number| {
            let body = &graph.bodies[number];
            let inherited = inherited.get(&(number as u32)).unwrap_or(&nothing);
            let mut found = Vec::new();
            for event in &body.events {
                let site = Site {
                    graph,
                    files,
                    body: number as u32,
                    event,
                    inherited,
                    orders: &orders,
                };
                let first = rules::CHECKS
                    .iter()
                    .enumerate()
                    .find_map(|(rank, check)| check(&site).map(|finding| (rank, finding)));
                found.extend(first.map(|(rank, mut finding)| {
                    finding.fix = repair::of(&site, &finding);
                    ((body.file, event.at.start), rank, finding)
                }));
            }
            found
        })
        .collect();
    let mut best: HashMap<Spot, (usize, Finding)> = HashMap::new();
    for (place, rank, finding) in found.into_iter().flatten() {
        match best.get(&place) {
            Some((known, _)) if *known <= rank => {}
            _ => {
                best.insert(place, (rank, finding));
            }
        }
    }
    best.into_values().map(|(_, finding)| finding).collect()
}

/// Guards under which closures run that somebody else calls.
fn inherited(graph: &Graph<'_, '_>) -> HashMap<u32, Vec<Inherited>> {
    let mut found: HashMap<u32, Vec<Inherited>> = HashMap::new();
    for (number, body) in graph.bodies.iter().enumerate() {
        for (index, event) in body.events.iter().enumerate() {
            for (how, callable) in &event.passed {
                let How::Param(param) = how else { continue };
                let (Some(closure), Some(uses)) =
                    (closure_of(graph, *callable), graph.uses_of(event, *param))
                else {
                    continue;
                };
                let places = found.entry(closure).or_default();
                places.extend(uses.under.iter().map(|(body, event)| Inherited {
                    body: *body,
                    event: *event,
                    by_callee: true,
                }));
                if uses.now && event.live != 0 {
                    places.push(Inherited {
                        body: number as u32,
                        event: index as u32,
                        by_callee: false,
                    });
                }
            }
        }
    }
    found
}

fn closure_of(graph: &Graph<'_, '_>, callable: crate::flow::body::Callable) -> Option<u32> {
    match callable {
        crate::flow::body::Callable::Body(body) if !graph.bodies[body as usize].is_async => {
            Some(body)
        }
        _ => None,
    }
}

/// Every pair of locks, in the order in which they are taken.
fn orders(graph: &Graph<'_, '_>) -> HashSet<(String, String)> {
    let mut pairs = HashSet::new();
    for body in &graph.bodies {
        for guard in &body.guards {
            let taken = body.events.iter().find(|event| {
                event.at.start == guard.at.start
                    && matches!(event.what, crate::flow::body::What::Acquires(..))
            });
            let Some(taken) = taken else { continue };
            for (number, first) in body.guards.iter().enumerate() {
                if number < 128
                    && taken.live & (1 << number) != 0
                    && first.lock.contains('.')
                    && guard.lock.contains('.')
                {
                    pairs.insert((first.lock.clone(), guard.lock.clone()));
                }
            }
        }
    }
    pairs
}

/// What a file adds to the report.
fn summarize(
    file: &SourceFile,
    files: &[SourceFile],
    seen: &mut HashSet<std::sync::Arc<str>>,
    analysis: &mut Analysis,
) {
    if !seen.insert(std::sync::Arc::clone(&file.text.display)) {
        return;
    }
    let lines = file.text.lines();
    let status = match (&file.broken, file.skipped) {
        (Some((at, cause)), _) => {
            let place = match file.asked_for {
                Some((parent, at)) => files[parent].text.span(at),
                None => file.text.span(*at),
            };
            analysis.findings.push(unparsed_source::finding(
                place,
                &file.text.display,
                cause,
                file.krate,
            ));
            FileStatus::Broken(cause.clone())
        }
        (None, Some(reason)) => FileStatus::Skipped(reason.to_owned()),
        (None, None) => {
            analysis.statistics.files += 1;
            analysis.statistics.lines += lines;
            FileStatus::Analysed
        }
    };
    for (at, name) in &file.missing {
        analysis.findings.push(unparsed_source::missing(
            file.text.span(*at),
            name.as_str(),
            file.krate,
        ));
    }
    analysis.files.push(FileSummary {
        path: file.text.display.to_string(),
        crate_index: file.krate,
        lines,
        status,
    });
    for comment in file.text.suppressions() {
        analysis.suppressions.push(Suppression {
            span: file.text.span(comment.at),
            lines: comment.lines,
            rules: comment.rules,
            reason: comment.reason,
            crate_index: file.krate,
            function: None,
        });
    }
    for allow in &file.syntax.allows {
        analysis.suppressions.push(Suppression {
            span: file.text.span(allow.at),
            lines: file.text.line(allow.item.start)..=file.text.line(allow.item.end),
            rules: allow.rules.clone(),
            reason: allow
                .reason
                .clone()
                .filter(|reason| !reason.trim().is_empty()),
            crate_index: file.krate,
            function: None,
        });
    }
}

/// Says in which function each suppression stands.
fn name_functions(graph: &Graph<'_, '_>, files: &[SourceFile], suppressions: &mut [Suppression]) {
    if suppressions.is_empty() {
        return;
    }
    for body in &graph.bodies {
        let crate::flow::body::BodyKind::Function(id) = body.kind else {
            continue;
        };
        let file = &files[body.file];
        let lines = file.text.line(body.at.start)..=file.text.line(body.at.end);
        for suppression in suppressions.iter_mut() {
            if suppression.span.file == file.text.display
                && lines.contains(&suppression.span.start.line)
            {
                suppression.function = Some(graph.model.function_name(id));
            }
        }
    }
}
