//! Enters sandboxes, as `arena` does by a hidden verb: what the tests build in.

use std::process::ExitCode;

fn main() -> ExitCode {
    referee_sandbox::enter()
}
