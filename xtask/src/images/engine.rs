//! The container engine: Docker, or a program with the same command line.

use std::process::Command;

use super::{Image, arch::Arch, context};
use crate::shell::{Result, capture, command, stream};

/// Seconds that an engine has to answer a question.
const ANSWER: u32 = 30;

const ABSENT: &str = "\
Images are built by a container engine: Docker, or a program with the same command line. It must be
running, and this user must be allowed to use it; --engine-host says where it is. Without an engine
`cargo xtask images contexts` writes what one needs, and `cargo xtask release` packs the programs.";

/// An engine.
#[derive(Clone, Copy, Debug)]
pub(super) struct Engine<'a> {
    /// Its socket, if it is not the usual one.
    pub(super) host: Option<&'a str>,
}

impl Engine<'_> {
    /// Its command line.
    pub(super) fn docker(self) -> Command {
        self.on_its_host(command("docker"))
    }

    /// Asks it for something, to know that it is there.
    ///
    /// # Errors
    /// It gives no answer.
    pub(super) fn check(self) -> Result {
        self.check_within(ANSWER)
    }

    fn check_within(self, seconds: u32) -> Result {
        let mut ask = command("timeout");
        ask.arg(seconds.to_string()).arg("docker");
        capture(self.on_its_host(ask).args(["ps", "--quiet"]))
            .map_err(|error| format!("the container engine does not answer: {error}\n{ABSENT}"))?;
        Ok(())
    }

    /// Pulls what these images stand on, unless the engine has it.
    ///
    /// # Errors
    /// There is no such image.
    pub(super) fn check_bases(self, images: &[&Image], given: Option<&str>, arch: Arch) -> Result {
        let mut bases = Vec::new();
        for image in images.iter().filter(|image| image.content.has_base()) {
            match given {
                Some(base) => bases.push(base.to_owned()),
                None => bases.push(default_base(&context::dockerfile(image)?)?),
            }
        }
        bases.sort();
        bases.dedup();
        for base in bases {
            let ask = ["image", "inspect", "--format", "{{.Architecture}}", &base];
            let has = capture(self.docker().args(ask));
            if has.is_ok_and(|has| has.trim() == arch.name()) {
                continue;
            }
            let platform = format!("--platform=linux/{}", arch.name());
            stream(self.docker().args(["pull", "--quiet", &platform, &base])).map_err(|error| {
                format!(
                    "the engine has no image `{base}` for {} and can't pull it: {error}\n\
                     Name one that it has with --base IMAGE, or make one of Debian's packages: \
                     `cargo xtask images base`, then `cargo xtask images --base {}/base`",
                    arch.name(),
                    super::REGISTRY,
                )
            })?;
        }
        Ok(())
    }

    fn on_its_host(self, mut command: Command) -> Command {
        command.args(self.host.map(|host| format!("--host={host}")));
        command
    }
}

/// The image below one with this Dockerfile, unless another one is given.
fn default_base(dockerfile: &str) -> Result<String> {
    let base = dockerfile
        .lines()
        .find_map(|line| line.strip_prefix("ARG BASE="));
    let base = base.ok_or("a Dockerfile has no line `ARG BASE=IMAGE`")?;
    Ok(base.to_owned())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    #[test]
    fn an_engine_that_is_not_there_or_silent_is_an_error_that_says_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let socket = folder.path().join("engine");
        let host = format!("unix://{}", socket.display());
        let check = || {
            let engine = Engine { host: Some(&host) };
            engine.check_within(1).unwrap_err().to_string()
        };
        let absent = check();
        assert!(absent.contains("--engine-host says where"), "{absent}");
        let _silent = UnixListener::bind(&socket).unwrap();
        let silent = check();
        assert!(silent.contains("does not answer"), "{silent}");
    }

    #[test]
    fn every_image_that_stands_on_another_names_it() {
        for image in super::super::IMAGES {
            let base = default_base(&context::dockerfile(image).unwrap());
            assert_eq!(base.is_ok(), image.content.has_base(), "{}", image.name);
        }
    }
}
