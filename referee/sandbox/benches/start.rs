//! The cost of a sandboxed start: the medians of starts of `/bin/true` with each kind
//! of namespaces, and without any wall, from `prepare` until the process has ended. The same beside
//! more files than are copied: the first start, which finds that out, and the median of the next ones.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{fs, io, time::Instant};

use referee_sandbox::{Outer, PreparedSandbox, Program, Reexec, Sandbox, SandboxMode};

const STARTS: usize = 100;
/// More than are copied for a program.
const FILES: usize = 12_000;

fn main() -> io::Result<()> {
    let reexec = || Reexec {
        program: env!("CARGO_BIN_EXE_referee-sandbox").into(),
        verb: vec!["enter".into()],
    };
    let folder = tempfile::tempdir()?;
    for number in 0..FILES {
        fs::write(folder.path().join(number.to_string()), "")?;
    }
    let alone = Program {
        path: "/bin/true".into(),
        ..Program::default()
    };
    let beside = Program {
        readable: vec![folder.path().into()],
        ..alone.clone()
    };
    let off = Sandbox::probe(SandboxMode::Off, reexec()).map_err(io::Error::other)?;
    println!("{:>8.2} ms  off", median(&off, &alone)?);
    for kind in [Outer::None, Outer::Own, Outer::Bubblewrap] {
        match Sandbox::probe_kind(kind, reexec()) {
            Ok(sandbox) => {
                println!("{:>8.2} ms  {}", median(&sandbox, &alone)?, sandbox.walls());
                let (first, next) = (start(&sandbox, &beside)?, median(&sandbox, &beside)?);
                println!("{next:>8.2} ms  the same beside {FILES} files (first: {first:.2} ms)");
            }
            Err(error) => println!("       - ms  {kind}: could not {error}"),
        }
    }
    Ok(())
}

fn median(sandbox: &Sandbox, program: &Program) -> io::Result<f64> {
    let times = (0..STARTS).map(|_| start(sandbox, program));
    let mut times = times.collect::<io::Result<Vec<_>>>()?;
    times.sort_by(f64::total_cmp);
    Ok(times[STARTS / 2])
}

/// Starts a program and waits for its end, in milliseconds.
fn start(sandbox: &Sandbox, program: &Program) -> io::Result<f64> {
    let begun = Instant::now();
    let PreparedSandbox {
        mut command,
        mut session,
    } = sandbox.prepare(program).map_err(io::Error::other)?;
    let status = command.status()?;
    let took = begun.elapsed().as_secs_f64() * 1000.0;
    // It has been said what was too large.
    let _ = session.end(status);
    Ok(took)
}
