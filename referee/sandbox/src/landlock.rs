//! A second wall around files, below the mounts; the only one where there are no namespaces.
//! It restricts the calling thread and what is started from it.

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible as _, LandlockStatus,
    PathBeneath, PathFd, Ruleset, RulesetAttr as _, RulesetCreatedAttr as _, Scope,
};

use crate::view::{Grant, PathAccess};

/// The newest interface whose rights are given here.
const NEWEST: ABI = ABI::V9;

/// Restricts this thread. Gives the version of the interface that is in force.
///
/// # Errors
/// Where the kernel has no landlock, or refuses.
pub(crate) fn restrict(grants: &[Grant]) -> Result<u8, String> {
    let text = |error: &dyn std::error::Error| error.to_string();
    let mut rules = Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(NEWEST))
        .map_err(|error| text(&error))?
        .scope(Scope::from_all(NEWEST))
        .map_err(|error| text(&error))?
        .create()
        .map_err(|error| text(&error))?;
    for grant in grants {
        // What is not there needs no right.
        let Ok(path) = PathFd::new(&grant.path) else {
            continue;
        };
        let is_folder = grant.path.is_dir();
        let mut rights = rights(grant.access);
        if !is_folder {
            rights &= AccessFs::from_file(NEWEST);
        }
        rules = rules
            .add_rule(PathBeneath::new(path, rights))
            .map_err(|error| text(&error))?;
    }
    let status = rules.restrict_self().map_err(|error| text(&error))?;
    match status.landlock {
        LandlockStatus::Available { effective_abi, .. } => Ok(effective_abi as u8),
        LandlockStatus::NotEnabled => Err("landlock is not enabled in the kernel".to_owned()),
        LandlockStatus::NotImplemented => Err("the kernel has no landlock".to_owned()),
    }
}

fn rights(access: PathAccess) -> BitFlags<AccessFs> {
    match access {
        PathAccess::List => AccessFs::ReadDir.into(),
        PathAccess::Read => AccessFs::from_read(NEWEST),
        PathAccess::Change => {
            AccessFs::from_read(NEWEST)
                | AccessFs::WriteFile
                | AccessFs::Truncate
                | AccessFs::IoctlDev
        }
        PathAccess::Write => AccessFs::from_all(NEWEST),
        // A bot that finds an old socket removes it.
        PathAccess::Socket => {
            AccessFs::MakeSock | AccessFs::RemoveFile | AccessFs::ReadDir | AccessFs::ResolveUnix
        }
    }
}
