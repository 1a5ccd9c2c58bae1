//! Enters a sandbox, as `arena` does with a hidden verb. Without arguments it prints what
//! holds on this machine.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

use std::{env, process::ExitCode};

use referee_sandbox::{Reexec, Sandbox, SandboxMode, enter};

fn main() -> ExitCode {
    if env::args_os().nth(1).is_some_and(|verb| verb == "enter") {
        return enter();
    }
    let reexec = Reexec::this_program(["enter"]);
    match Sandbox::probe(SandboxMode::Best, reexec) {
        Ok(sandbox) => {
            println!("{}", sandbox.walls());
            for missing in sandbox.walls().missing() {
                println!(
                    "{}: {}. {}",
                    missing.wall, missing.consequence, missing.remedy
                );
            }
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("could not probe this machine: {error}");
            ExitCode::FAILURE
        }
    }
}
