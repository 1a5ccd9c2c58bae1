//! The architectures that programs and images are built for, by the names that registries use.

use crate::shell::{Result, capture, command, succeeds};

/// An architecture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arch {
    /// x86-64.
    Amd64,
    /// `AArch64`.
    Arm64,
}

impl Arch {
    const ALL: [Self; 2] = [Self::Amd64, Self::Arm64];

    /// The one that is named.
    ///
    /// # Errors
    /// There is none of this name.
    pub(super) fn read(name: &str) -> Result<Self> {
        let found = Self::ALL.into_iter().find(|arch| arch.name() == name);
        found.ok_or_else(|| format!("expected amd64 or arm64 after --arch, got `{name}`").into())
    }

    /// That of this machine.
    ///
    /// # Errors
    /// It is another one, or not Linux with glibc, which can be linked statically.
    pub(super) fn host() -> Result<Self> {
        let here = Self::ALL
            .into_iter()
            .find(|arch| arch.machine() == std::env::consts::ARCH);
        match here {
            Some(arch) if cfg!(all(target_os = "linux", target_env = "gnu")) => Ok(arch),
            _ => Err("images are built on Linux with glibc, on x86-64 or AArch64".into()),
        }
    }

    /// Its name in registries.
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Amd64 => "amd64",
            Self::Arm64 => "arm64",
        }
    }

    /// Its name in the names of compilers, libraries and Python's wheels.
    pub(super) const fn machine(self) -> &'static str {
        match self {
            Self::Amd64 => "x86_64",
            Self::Arm64 => "aarch64",
        }
    }

    /// Its name in cargo.
    pub(super) fn target(self) -> String {
        format!("{}-unknown-linux-gnu", self.machine())
    }

    /// The compiler of C, which is also the linker; Debian's name of it.
    pub(super) fn cc(self) -> String {
        format!("{}-linux-gnu-gcc", self.machine())
    }

    /// The end of what is named after the architecture: nothing for that of this machine.
    ///
    /// # Errors
    /// This machine's is unknown.
    pub(super) fn suffix(self) -> Result<String> {
        Ok(match self == Self::host()? {
            true => String::new(),
            false => format!("-{}", self.name()),
        })
    }

    /// Looks for what compiles for it.
    ///
    /// # Errors
    /// Something is missing; the message says how to install it.
    pub(super) fn check_tools(self) -> Result {
        if self == Self::host()? {
            return Ok(());
        }
        let target = self.target();
        let libraries = capture(
            command("rustc")
                .args(["--print", "target-libdir", "--target"])
                .arg(&target),
        )?;
        if !std::path::Path::new(libraries.trim()).is_dir() {
            return Err(format!(
                "Rust's library for {target} is missing: run `rustup target add {target}`"
            )
            .into());
        }
        let cc = self.cc();
        if !succeeds(command(&cc).arg("--version")) {
            let package = format!("gcc-{}-linux-gnu", self.machine().replace('_', "-"));
            return Err(format!(
                "`{cc}` compiles for {} and is missing (Debian: apt-get install {package})",
                self.name()
            )
            .into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_architecture_has_the_names_of_registries_and_of_cargo() {
        let arm = Arch::read("arm64").unwrap();
        assert_eq!(arm.target(), "aarch64-unknown-linux-gnu");
        assert_eq!(Arch::Amd64.cc(), "x86_64-linux-gnu-gcc");
        let refused = Arch::read("aarch64").unwrap_err().to_string();
        assert!(refused.contains("expected amd64 or arm64"), "{refused}");
    }

    #[test]
    fn only_what_is_for_another_machine_has_a_suffix() {
        for arch in Arch::ALL {
            let expected = match arch == Arch::host().unwrap() {
                true => String::new(),
                false => format!("-{}", arch.name()),
            };
            assert_eq!(arch.suffix().unwrap(), expected);
        }
    }
}
