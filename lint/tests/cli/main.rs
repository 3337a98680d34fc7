//! The program as people and services call it, on small whole workspaces.

mod docs;
mod editor;
mod findings;
mod fix;
mod history;
mod hostile;
mod modules;
mod project;
mod selection;
mod settings;
mod since;
mod usage;
