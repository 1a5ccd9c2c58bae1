//! Programs and libraries that the tests need besides Rust: those that are absent are installed
//! from Debian's packages, as root or by sudo, or named in one line to type.

use std::{env, fs, os::unix::fs::MetadataExt as _};

use crate::{
    postgres,
    shell::{Result, capture, command, stream, succeeds},
};

/// The sign that a need is met.
enum Sign {
    /// All these programs are on the path.
    Programs(&'static [&'static str]),
    /// Python can import these modules.
    Python(&'static str),
    /// Debian's packages of the same names are installed.
    Packages,
    /// Its own test.
    Test(fn() -> bool),
}

/// Something that is needed, with the packages of Debian that bring it.
pub(crate) struct Need {
    sign: Sign,
    packages: &'static [&'static str],
}

const fn programs(programs: &'static [&'static str], packages: &'static [&'static str]) -> Need {
    let sign = Sign::Programs(programs);
    Need { sign, packages }
}

const fn test(test: fn() -> bool, packages: &'static [&'static str]) -> Need {
    let sign = Sign::Test(test);
    Need { sign, packages }
}

/// The needs to build, and to test what needs nothing else.
#[rustfmt::skip]
pub(crate) const BUILD: &[Need] = &[
    programs(&["git"], &["git"]),
    // Some dependencies compile C, as the C++ kit and the strategies that are tested do.
    programs(&["cc", "gcc"], &["gcc", "libc6-dev"]),
    programs(&["g++"], &["g++"]),
    programs(&["cmake"], &["cmake"]),
    programs(&["make"], &["make"]),
    programs(&["protoc"], &["protobuf-compiler"]),
    programs(&["grpc_cpp_plugin"], &["protobuf-compiler-grpc"]),
    Need { sign: Sign::Packages, packages: &["libgrpc++-dev", "libprotobuf-dev", "libgtest-dev"] },
    programs(&["python3"], &["python3"]),
    // Tools and the Python kit are installed into environments of their own.
    Need { sign: Sign::Python("ensurepip, venv"), packages: &["python3-venv"] },
];

/// The needs of the other tests.
#[rustfmt::skip]
pub(crate) const TESTS: &[Need] = &[
    // It compiles the Go kit, and what checks the workflows of GitHub.
    programs(&["go"], &["golang-go"]),
    // The TypeScript kit, and the rules that the page is tested by.
    programs(&["node"], &["nodejs"]),
    programs(&["npm"], &["npm"]),
    // The Java kit.
    programs(&["java", "javac"], &["openjdk-17-jdk-headless"]),
    programs(&["mvn"], &["maven"]),
    // Entries in C++ are linked by what it says of the kit's libraries.
    programs(&["pkg-config"], &["pkgconf"]),
    // What a runtime finds in a sandbox is tested with it.
    programs(&["ruby"], &["ruby"]),
    programs(&["lua5.4"], &["lua5.4"]),
    // The sandbox is tested with it and without it.
    programs(&["bwrap"], &["bubblewrap"]),
    // Bots in containers are tested on an engine that the tests start themselves, and the
    // deployment on one host with Compose: Docker's plugin, or Debian's program.
    programs(&["dockerd", "docker"], &["docker.io"]),
    test(has_compose, &["docker-compose"]),
    // The images that they build stand on one of Debian's packages.
    programs(&["mmdebstrap"], &["mmdebstrap"]),
    // What makes certificates for a cluster is tested.
    programs(&["openssl"], &["openssl"]),
    // The web page is tested in a browser, which needs a font.
    programs(&["chromium"], &["chromium"]),
    programs(&["chromedriver"], &["chromium-driver"]),
    Need { sign: Sign::Packages, packages: &["fonts-dejavu-core"] },
    programs(&["curl"], &["curl"]),
    // It is tested behind a proxy, too.
    programs(&["nginx"], &["nginx-light"]),
    // Workers are tested in networks that the tests make and cut.
    programs(&["ip"], &["iproute2"]),
    // The store is tested on a server that the tests start themselves.
    test(postgres::is_met, &["postgresql"]),
    // A store is tested behind a pool of connections.
    Need { sign: Sign::Packages, packages: &["pgbouncer"] },
];

impl Need {
    /// The packages that are to be installed for it.
    fn absent(&self) -> Vec<&'static str> {
        let is_met = match self.sign {
            Sign::Programs(programs) => programs.iter().all(|program| is_on_path(program)),
            Sign::Python(modules) => imports(modules),
            // Elsewhere the build says what it does not find.
            Sign::Packages => !is_on_path("dpkg"),
            Sign::Test(test) => test(),
        };
        if is_met {
            return Vec::new();
        }
        let packages = self.packages.iter().copied();
        packages.filter(|package| !is_installed(package)).collect()
    }
}

/// Installs what is absent.
///
/// # Errors
/// Something is absent and can't be installed from here: the error is the line to type.
pub(crate) fn install(needs: &[Need]) -> Result {
    let absent: Vec<&str> = needs.iter().flat_map(Need::absent).collect();
    if absent.is_empty() {
        return Ok(());
    }
    let install = format!(
        "apt-get install -y --no-install-recommends {}",
        absent.join(" ")
    );
    let Some(prefix) = as_root() else {
        return Err(format!(
            "the tests need what is absent here. On Debian and Ubuntu, type\n  sudo {install}\n\
             elsewhere install what these packages have."
        )
        .into());
    };
    for line in ["apt-get update -qq", &format!("{install} -qq")] {
        let words = prefix.iter().copied().chain(line.split(' '));
        stream(command("env").args(words))?;
    }
    Ok(())
}

/// The words between `env` and a command so that root runs it and nothing is asked; none where that
/// can't be.
fn as_root() -> Option<&'static [&'static str]> {
    if !is_on_path("apt-get") {
        return None;
    }
    if fs::metadata("/proc/self").is_ok_and(|myself| myself.uid() == 0) {
        return Some(&["DEBIAN_FRONTEND=noninteractive"]);
    }
    let has_sudo = succeeds(command("sudo").args(["-n", "true"]));
    has_sudo.then_some(&["sudo", "-n", "env", "DEBIAN_FRONTEND=noninteractive"])
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn imports(modules: &str) -> bool {
    succeeds(command("python3").args(["-c", &format!("import {modules}")]))
}

fn is_installed(package: &str) -> bool {
    // A package that has been removed is still known where it has left its configuration.
    let status = ["--show", "--showformat=${db:Status-Status}", package];
    capture(command("dpkg-query").args(status)).is_ok_and(|status| status == "installed")
}

fn has_compose() -> bool {
    is_on_path("docker-compose") || succeeds(command("docker").args(["compose", "version"]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_needs_no_package() {
        assert_eq!(programs(&["sh"], &["no-such-package"]).absent(), [""; 0]);
        assert_eq!(test(|| true, &["no-such-package"]).absent(), [""; 0]);
    }

    #[test]
    fn what_is_not_met_names_its_packages() {
        let need = programs(&["sh", "no-such-program"], &["no-such-package", "another"]);
        assert_eq!(need.absent(), ["no-such-package", "another"]);
        let sign = Sign::Python("no_such_module");
        let packages = &["no-such-package"];
        assert_eq!(Need { sign, packages }.absent(), *packages);
    }

    #[test]
    fn no_package_is_asked_for_twice() {
        let mut packages: Vec<_> = [BUILD, TESTS]
            .into_iter()
            .flatten()
            .flat_map(|need| need.packages)
            .collect();
        let all = packages.len();
        packages.sort();
        packages.dedup();
        assert_eq!(packages.len(), all);
    }
}
