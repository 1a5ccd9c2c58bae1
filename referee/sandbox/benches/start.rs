//! The cost of a sandboxed start: the medians of starts of `/bin/true` with each kind
//! of namespaces, and without any wall, from `prepare` until the process has ended.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{io, time::Instant};

use referee_sandbox::{Outer, PreparedSandbox, Program, Reexec, Sandbox, SandboxMode};

const STARTS: usize = 100;

fn main() -> io::Result<()> {
    let reexec = || Reexec {
        program: env!("CARGO_BIN_EXE_referee-sandbox").into(),
        verb: vec!["enter".into()],
    };
    let off = Sandbox::probe(SandboxMode::Off, reexec()).map_err(io::Error::other)?;
    println!("{:>8.2} ms  off", median(&off)?);
    for kind in [Outer::None, Outer::Own, Outer::Bubblewrap] {
        match Sandbox::probe_kind(kind, reexec()) {
            Ok(sandbox) => println!("{:>8.2} ms  {}", median(&sandbox)?, sandbox.walls()),
            Err(error) => println!("       - ms  {kind}: could not {error}"),
        }
    }
    Ok(())
}

fn median(sandbox: &Sandbox) -> io::Result<f64> {
    let program = Program {
        path: "/bin/true".into(),
        ..Program::default()
    };
    let mut times = Vec::with_capacity(STARTS);
    for _ in 0..STARTS {
        let begun = Instant::now();
        let PreparedSandbox {
            mut command,
            session,
        } = sandbox.prepare(&program).map_err(io::Error::other)?;
        command.status()?;
        times.push(begun.elapsed().as_secs_f64() * 1000.0);
        drop(session);
    }
    times.sort_by(f64::total_cmp);
    Ok(times[STARTS / 2])
}
