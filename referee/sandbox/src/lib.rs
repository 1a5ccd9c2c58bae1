//! Runs one program that is not trusted behind walls: it sees its own files and nothing
//! of other processes, reaches nobody, and takes no more than it was given.
//!
//! [`Sandbox::probe`] finds out once what this machine allows. [`Sandbox::prepare`] gives a
//! [`std::process::Command`] for one [`Program`], and a [`SandboxSession`] that holds its cgroup
//! and hears how it ended. The command starts the calling program again with a hidden
//! verb, which must call [`enter`] before it starts a thread:
//!
//! 1. The monitor, outside of the walls, puts what follows into its cgroup, starts it in
//!    namespaces of its own, and ends everything when the [`SandboxSession`] is dropped or the
//!    process that has it dies, whatever way.
//! 2. The init, process 1 of the new pid namespace, builds the view of the files, restricts
//!    a thread by landlock and seccomp, starts the program from it, and reaps orphans.
//!
//! Bubblewrap does the outer part where it is installed and works.
//!
//! What holds is a value, [`Walls`]. Nothing falls away in silence: a wall that held when
//! it was probed and cannot be built later is an error of that start.

mod absent;
mod bubblewrap;
mod calls;
mod cgroup;
mod channel;
mod enter;
mod init;
mod lack;
mod landlock;
mod limits;
mod machine;
mod modules;
mod monitor;
mod mounts;
mod network;
mod own;
mod packages;
mod plan;
mod proc;
mod program;
mod sandbox;
mod script;
mod seccomp;
mod secret;
mod session;
mod view;
mod walls;

pub use crate::{
    absent::{absent_interpreter, has_carriage_return, without_returns},
    cgroup::{Cgroup, Creator, Freezer, MemoryKills},
    enter::enter,
    lack::is_lack,
    limits::ResourceLimits,
    modules::{MissingModule, ModulePlace, find_module},
    packages::{ModuleLanguage, is_of_a_runtime, is_package_variable, is_shell},
    plan::{LeftProcess, ProgramEnd},
    program::{Program, joined},
    sandbox::{PrepareError, Reexec, Sandbox, SandboxError, SandboxMode},
    script::named_programs,
    session::{PreparedSandbox, SandboxSession},
    view::is_executable,
    walls::{CgroupVersion, Missing, Outer, Wall, Walls},
};
