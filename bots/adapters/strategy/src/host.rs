//! The process that a strategy runs in for one game: loads it, and calls it
//! whenever the adapter asks. It knows nothing of games, streams or time.

use std::{io::Write as _, os::unix::net::UnixStream, process::ExitCode};

use crate::{
    file::Strategy,
    object::{self, LoadError, Object},
    sandbox,
    wire::{HostReport, PointQuestion},
};

/// Runs as a host until the adapter is gone. Standard input is the socket to the
/// adapter.
#[must_use]
pub fn host(spec: &str) -> ExitCode {
    let played = sandbox::enter()
        .map_err(|error| format!("could not start a host: {error}"))
        .and_then(|adapter| play(spec, &adapter));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}

fn play(spec: &str, adapter: &UnixStream) -> Result<(), String> {
    let say = |report: HostReport| {
        let mut to = adapter;
        to.write_all(&report.write())
            .map_err(|error| format!("the adapter can't be reached: {error}"))
    };
    let object = match load(spec) {
        Ok(object) => object,
        Err(error) => {
            // The adapter ends this process when it has the reason.
            object::flush();
            let (report, why): (fn(u32) -> HostReport, _) = match error {
                LoadError::Refused(why) => (|bytes| HostReport::Refused { bytes }, why),
                LoadError::Lacks(why) => (|bytes| HostReport::Lacks { bytes }, why),
            };
            say(report(why.len() as u32))?;
            let mut to = adapter;
            let told = to.write_all(why.as_bytes());
            return told.map_err(|_| why);
        }
    };
    say(HostReport::Loaded)?;
    // On this thread, whose stack is as large as a program's.
    while let Ok(question) = PointQuestion::read(adapter) {
        let Some(returned) = object.get_point(&question) else {
            object::flush();
            say(HostReport::Null)?;
            continue;
        };
        let (x, y) = (returned.x, returned.y);
        say(HostReport::Point { x, y })?;
        object.clear_point(returned);
        // Killed at the end of the game, it could not do so itself.
        object::flush();
        say(HostReport::Cleared)?;
    }
    Ok(())
}

fn load(spec: &str) -> Result<Object, LoadError> {
    let strategy: Strategy = spec
        .parse()
        .map_err(|error| LoadError::Refused(format!("{error}")))?;
    if strategy.clock_scale.get() > 1 {
        object::slow_clock(strategy.clock_scale).map_err(LoadError::Refused)?;
    }
    Object::load(&strategy.path)
}
