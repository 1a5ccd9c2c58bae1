//! Runs one program that is not trusted in a container: the engine (Docker, or Podman through
//! the same interface) builds the walls, and this crate says which.
//!
//! [`Engine::connect`] finds the engine out once. [`Containers::prepare`] gives a
//! [`std::process::Command`] for one [`Program`] of an image, and a [`Session`] that hears how it
//! ended. The command starts the calling program again with a hidden verb, which must call
//! [`enter`]: this is the monitor. It creates the container, passes its output and signals on,
//! removes it when it has ended, and kills and removes it when the [`Session`] is dropped or the
//! process that has it dies, whatever way. What a monitor that was killed has left is removed by
//! [`Engine::sweep`], which knows its containers by a label.

mod engine;
mod image;
mod monitor;
mod plan;
mod program;
mod session;
mod walls;

pub use crate::{
    engine::{About, Engine, EngineError, find_socket},
    image::{BadImageName, Image, ImageName},
    monitor::enter,
    plan::End,
    program::{Containers, Prepared, Program},
    session::{Session, Started},
};
