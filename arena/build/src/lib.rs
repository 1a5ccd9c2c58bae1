//! Builds the sources that strangers send into packed bots: [`Sources::read`] unpacks an upload
//! within bounds, [`build`] compiles it in a sandbox and packs what came of it, as `arena bots add
//! --dir` does.
mod build;
mod fault;
mod limits;
mod recipe;
mod run;
mod settings;
mod sources;
mod toolchain;
mod tree;

pub use build::{Built, build};
pub use fault::{BuildError, BuildFault, FaultKind};
pub use limits::BuildLimits;
pub use recipe::Language;
pub use sources::Sources;
pub use toolchain::{BrainKit, CppKit, GoKit, NodeKit, RustKit, Toolchain};
