//! Which guards may be alive, and what owns them, at one point of a body.

use super::body::Guards;

/// Owners with their guards: variables and temporaries by the identity of their pattern or expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    owners: Vec<(u32, Guards)>,
    /// Whether the point can be reached.
    pub(super) reachable: bool,
}

impl State {
    /// The state at the start of a body.
    pub(super) fn start() -> Self {
        Self {
            owners: Vec::new(),
            reachable: true,
        }
    }

    /// The state behind something that does not come back.
    pub(super) fn unreachable() -> Self {
        Self {
            owners: Vec::new(),
            reachable: false,
        }
    }

    /// All guards that may be alive.
    pub(super) fn live(&self) -> Guards {
        self.owners.iter().fold(0, |all, (_, guards)| all | guards)
    }

    /// The guards of one owner.
    pub(super) fn of(&self, owner: u32) -> Guards {
        match self
            .owners
            .binary_search_by_key(&owner, |(owner, _)| *owner)
        {
            Ok(at) => self.owners[at].1,
            Err(_) => 0,
        }
    }

    /// Gives guards to an owner.
    pub(super) fn give(&mut self, owner: u32, guards: Guards) {
        if guards == 0 {
            return;
        }
        match self
            .owners
            .binary_search_by_key(&owner, |(owner, _)| *owner)
        {
            Ok(at) => self.owners[at].1 |= guards,
            Err(at) => self.owners.insert(at, (owner, guards)),
        }
    }

    /// Takes an owner's guards away.
    pub(super) fn take(&mut self, owner: u32) -> Guards {
        match self
            .owners
            .binary_search_by_key(&owner, |(owner, _)| *owner)
        {
            Ok(at) => self.owners.remove(at).1,
            Err(_) => 0,
        }
    }

    /// Takes guards away from all owners.
    pub(super) fn remove(&mut self, guards: Guards) {
        for (_, of) in &mut self.owners {
            *of &= !guards;
        }
        self.owners.retain(|(_, of)| *of != 0);
    }

    /// What may be alive when control comes from either side.
    pub(super) fn join(&mut self, other: &Self) {
        if !other.reachable {
            return;
        }
        if !self.reachable {
            self.clone_from(other);
            return;
        }
        for (owner, guards) in &other.owners {
            self.give(*owner, *guards);
        }
    }
}
