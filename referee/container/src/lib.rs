//! Runs one program that is not trusted in a container: the engine (Docker, or Podman through
//! the same interface) builds the walls, and this crate says which.
//!
//! [`ContainerEngine::connect`] finds the engine out once. [`Containers::prepare`] gives a
//! [`std::process::Command`] for one [`ContainerProgram`] of an image, and a [`ContainerSession`] that hears how it
//! ended. The command starts the calling program again with a hidden verb, which must call
//! [`enter`]: this is the monitor. It creates the container, passes its output and signals on,
//! removes it when it has ended, and kills and removes it when the [`ContainerSession`] is dropped or the
//! process that has it dies, whatever way. What a monitor that was killed has left is removed by
//! [`ContainerEngine::sweep`], which knows its containers by a label.

mod engine;
mod image;
mod monitor;
mod plan;
mod program;
mod session;
mod walls;

pub use crate::{
    engine::{About, ContainerEngine, EngineError, find_socket},
    image::{BadImageName, ContainerImage, ImageName},
    monitor::enter,
    plan::ContainerEnd,
    program::{ContainerProgram, Containers, PreparedContainer},
    session::{ContainerSession, Started},
};
