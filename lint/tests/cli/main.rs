//! The program as people and services call it, on small whole workspaces.

mod docs;
mod findings;
mod hostile;
mod project;
mod selection;
mod settings;
mod since;
mod usage;
