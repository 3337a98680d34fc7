//! Turns the packages of a workspace into crates.

use std::env;
use std::path::{Path, PathBuf};

use super::disk::Disk;
use super::features::{active, member};
use super::metadata::{Metadata, Package, Target, ask_cargo};
use super::select::select;
use super::{LoadError, Loaded, Request, cfg, manifest, registry, settings};
use crate::input::{CrateInput, Dependency, Edition, TargetKind};

/// Finds the workspace and its crates.
///
/// # Errors
/// When there is no manifest, no such package or feature, nothing to check, or wrong configuration.
pub(crate) fn load(request: &Request) -> Result<Loaded, LoadError> {
    let manifest = find_manifest(request)?;
    let mut notices = Vec::new();
    let mut metadata = ask_cargo(&manifest).unwrap_or_else(|cause| {
        notices.push(format!(
            "cargo could not describe this workspace, so its manifests were read instead: {cause}"
        ));
        manifest::walk(&manifest)
    });
    let selected = select(&metadata, request, &manifest)?;
    let (mut config, config_origin) =
        settings::of_packages(&metadata, &selected, &manifest, request)?;
    config.tests |= request.tests;
    if request.deps {
        notices.extend(registry::add(&mut metadata));
    }
    let features = active(&metadata, &selected, request)?;
    let mut crates: Vec<CrateInput> = Vec::new();
    let mut owners = Vec::new();
    for (index, package) in metadata.packages.iter().enumerate() {
        for target in &package.targets {
            let kind = kind_of(target);
            let is_test = matches!(
                kind,
                TargetKind::Test | TargetKind::Bench | TargetKind::Build
            );
            let is_built = target
                .required_features
                .iter()
                .all(|name| features[index].contains(name));
            // Of packages that are only looked through, others can call the library alone.
            let is_callable = matches!(kind, TargetKind::Lib | TargetKind::ProcMacro);
            if (is_test && !config.tests)
                || !is_built
                || !(is_callable || selected.contains(&index))
            {
                continue;
            }
            owners.push(index);
            crates.push(CrateInput {
                name: target.name.replace('-', "_"),
                package: Some(package.id.clone()),
                package_name: package.name.clone(),
                manifest: Some(package.manifest_path.clone()),
                target_kind: kind,
                root: target.src_path.clone(),
                edition: Edition::parse(&target.edition).unwrap_or(Edition::E2024),
                features: features[index].clone(),
                declared_features: package.features.keys().cloned().collect(),
                dependencies: Vec::new(),
                reported: selected.contains(&index),
            });
        }
    }
    if !crates.iter().any(|candidate| candidate.reported) {
        return Err(LoadError::NoTargets(
            manifest.parent().unwrap_or(Path::new("/")).to_owned(),
        ));
    }
    let libraries: Vec<Option<usize>> = (0..metadata.packages.len())
        .map(|package| {
            let is_library = |index: &usize| {
                matches!(
                    crates[*index].target_kind,
                    TargetKind::Lib | TargetKind::ProcMacro
                )
            };
            (0..crates.len()).find(|index| owners[*index] == package && is_library(index))
        })
        .collect();
    for index in 0..crates.len() {
        let names: Vec<Dependency> = dependencies(
            &metadata,
            owners[index],
            crates[index].target_kind,
            &libraries,
            &crates,
        );
        crates[index].dependencies = names;
    }
    let directories = metadata
        .packages
        .iter()
        .map(|package| package.directory().to_owned());
    let disk = Disk::new(
        metadata.workspace_root.clone(),
        directories.chain([metadata.workspace_root.clone()]),
    );
    let cfg = cfg::of_target(request.target.as_deref(), config.tests)?;
    Ok(Loaded {
        crates,
        disk,
        cfg,
        config,
        config_origin,
        root: metadata.workspace_root,
        notices,
    })
}

fn find_manifest(request: &Request) -> Result<PathBuf, LoadError> {
    let here = env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    match &request.manifest_path {
        Some(path) => {
            let missing = || LoadError::MissingManifest(path.clone());
            let path = if path.is_dir() {
                path.join("Cargo.toml")
            } else {
                path.clone()
            };
            let path = std::path::absolute(&path).map_err(|_| missing())?;
            if path.is_file() {
                Ok(super::disk::normalize(&path))
            } else {
                Err(missing())
            }
        }
        None => manifest::find_upwards(&here).ok_or(LoadError::NoManifest(here)),
    }
}

fn kind_of(target: &Target) -> TargetKind {
    let is = |kind: &str| target.kind.iter().any(|name| name == kind);
    if is("proc-macro") {
        TargetKind::ProcMacro
    } else if is("bin") {
        TargetKind::Bin
    } else if is("example") {
        TargetKind::Example
    } else if is("test") {
        TargetKind::Test
    } else if is("bench") {
        TargetKind::Bench
    } else if is("custom-build") {
        TargetKind::Build
    } else {
        // `lib`, `rlib`, `dylib`, `cdylib`, `staticlib`.
        TargetKind::Lib
    }
}

/// What the code of one crate can name: its package's library and the dependencies of its kind.
fn dependencies(
    metadata: &Metadata,
    owner: usize,
    kind: TargetKind,
    libraries: &[Option<usize>],
    crates: &[CrateInput],
) -> Vec<Dependency> {
    let package: &Package = &metadata.packages[owner];
    let mut names = Vec::new();
    let is_library = matches!(kind, TargetKind::Lib | TargetKind::ProcMacro);
    if !is_library
        && kind != TargetKind::Build
        && let Some(library) = libraries[owner]
    {
        names.push(Dependency {
            code_name: crates[library].name.clone(),
            package_name: package.name.clone(),
            local: Some(library),
        });
    }
    for dependency in &package.dependencies {
        let applies = match dependency.kind.as_deref() {
            None => kind != TargetKind::Build,
            Some("build") => kind == TargetKind::Build,
            _ => matches!(
                kind,
                TargetKind::Example | TargetKind::Test | TargetKind::Bench
            ),
        };
        if !applies {
            continue;
        }
        let local = member(metadata, dependency).and_then(|package| libraries[package]);
        // A member's library may go by another name than its package; other packages' are not known here.
        let library = local.map(|index| crates[index].name.clone());
        let code_name = dependency
            .rename
            .clone()
            .or(library)
            .unwrap_or_else(|| dependency.name.clone());
        names.push(Dependency {
            code_name: code_name.replace('-', "_"),
            package_name: dependency.name.clone(),
            local,
        });
    }
    names.sort_by(|a, b| {
        (&a.code_name, &a.package_name, a.local).cmp(&(&b.code_name, &b.package_name, b.local))
    });
    names.dedup();
    names
}
