//! The folders in which language runtimes look for packages that nobody names: a table.
//!
//! Nothing is run to find them out. Each place is one that the documentation of its runtime
//! names; the folders of the system are visible anyway.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::ffi::OsStrExt as _,
    path::{Path, PathBuf},
};

/// Most entries of a folder that are looked at for those that match.
const MOST: usize = 10_000;

/// A runtime, and where it finds packages.
#[derive(Debug)]
pub(crate) struct Runtime {
    /// The names of its programs, without the version that may follow: `python3.11`.
    programs: &'static [&'static str],
    /// The end of a name that stands for the name of a program in a file beside it, where that
    /// file says that the program is started by this runtime.
    mark: Option<&'static str>,
    /// Variables that name folders of packages, or the runtime's own. A last `*` stands for
    /// any end.
    variables: &'static [&'static str],
    places: &'static [Place],
    /// The modules of its language, where it says which one it did not find.
    modules: Option<Modules>,
}

/// A language whose runtime says which module a program lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "a language is known by its name")]
pub enum ModuleLanguage {
    Python,
    JavaScript,
    Ruby,
    Perl,
    Lua,
}

/// How a runtime names a module that it did not find, and the files that may be one.
#[derive(Debug)]
pub(crate) struct Modules {
    pub(crate) language: ModuleLanguage,
    /// The words before and after the name.
    pub(crate) says: &'static [(&'static str, &'static str)],
    /// Text between the parts of a name, which are names of folders.
    pub(crate) between: &'static str,
    /// The variables that name folders of modules, or folders that have such: then the path to
    /// those.
    pub(crate) named: &'static [(&'static str, &'static str)],
    /// The paths from a place of packages to a folder of modules. A `*` stands for any name.
    pub(crate) below: &'static [&'static str],
    /// The ends of the names of a module's files in a folder of modules.
    pub(crate) files: &'static [&'static str],
}

/// Where a runtime finds packages. A last `*` of a path stands for any end of a name.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Below the home. The program finds it below the home that it has in the sandbox.
    Home(&'static str),
    /// Below the folder that the folder of its program lies in: `PREFIX/bin/python3`.
    Prefix(&'static str),
    /// Below the folder of its program.
    Beside(&'static str),
    /// Below the folder that a variable names.
    Variable(&'static str, &'static str),
    /// In the folders before the first `?` of each template in a variable: `/FOLDER/?.lua;…`.
    Templates(&'static str),
    /// In the folder of each file that is named, and in each folder above it.
    Above(&'static str),
    /// The nearest one of those.
    Nearest(&'static str),
    /// At this path.
    Machine(&'static str),
}

use Place::{Above, Beside, Home, Machine, Nearest, Prefix, Templates, Variable};

#[rustfmt::skip]
const RUNTIMES: &[Runtime] = &[
    // Folders of packages: <https://docs.python.org/3/library/site.html>. The folder of an
    // environment has `pyvenv.cfg`, which names the base (PEP 405).
    Runtime {
        programs: &["python", "pypy", "uv"],
        mark: None,
        variables: &["PYTHONPATH", "PYTHONUSERBASE"],
        places: &[
            Home(".local/lib/python*"), Home(".local/lib/pypy*"),
            Variable("PYTHONUSERBASE", "lib/python*"), Variable("PYTHONUSERBASE", "lib/pypy*"),
            Prefix("lib/python*"), Prefix("lib64/python*"), Prefix("lib/pypy*"),
            Prefix("lib/libpython*"), Machine("/usr/local/lib/python*"),
        ],
        modules: Some(Modules {
            language: ModuleLanguage::Python,
            says: &[("No module named '", "'")],
            between: ".",
            named: &[("PYTHONPATH", "")],
            below: &["site-packages", "dist-packages"],
            files: &["/__init__.py", ".py"],
        }),
    },
    // <https://nodejs.org/api/modules.html#loading-from-node_modules-folders>, and
    // `#loading-from-the-global-folders` there. The nearest `package.json` says what kind a
    // module is: <https://nodejs.org/api/packages.html#determining-module-system>.
    Runtime {
        programs: &["node", "nodejs"],
        mark: None,
        variables: &["NODE_PATH"],
        places: &[
            Above("node_modules"), Nearest("package.json"),
            Home(".node_modules"), Home(".node_libraries"),
            Prefix("lib/node"), Prefix("lib/node_modules"),
        ],
        modules: Some(Modules {
            language: ModuleLanguage::JavaScript,
            says: &[
                ("Error: Cannot find module '", "'"),
                ("Cannot find package '", "'"), ("Cannot find module '", "' imported from"),
            ],
            between: "/",
            named: &[("NODE_PATH", "")],
            below: &[""],
            files: &[".js", ".mjs", ".cjs", ".json", "/index.js", ""],
        }),
    },
    // `gem environment`: <https://guides.rubygems.org/command-reference/#gem-environment>.
    // Debian's default folder is below `/var` (operating_system.rb of rubygems-integration).
    Runtime {
        programs: &["ruby"],
        mark: None,
        variables: &["GEM_HOME", "GEM_PATH", "RUBYLIB"],
        places: &[
            Home(".local/share/gem/ruby"), Home(".gem/ruby"), Machine("/var/lib/gems"),
            Prefix("lib/ruby"),
        ],
        modules: Some(Modules {
            language: ModuleLanguage::Ruby,
            says: &[("cannot load such file -- ", " (LoadError)")],
            between: "/",
            named: &[("RUBYLIB", ""), ("GEM_HOME", "gems/*/lib"), ("GEM_PATH", "gems/*/lib")],
            below: &["*/gems/*/lib", "gems/*/gems/*/lib"],
            files: &[".rb", ".so", ""],
        }),
    },
    // <https://perldoc.perl.org/perlrun#PERL5LIB>; the folder of local::lib in a home:
    // <https://metacpan.org/pod/local::lib#DESCRIPTION>.
    Runtime {
        programs: &["perl"],
        mark: None,
        variables: &["PERL5LIB", "PERLLIB"],
        places: &[Home("perl5/lib/perl5"), Prefix("lib/perl5")],
        modules: Some(Modules {
            language: ModuleLanguage::Perl,
            says: &[("Can't locate ", ".pm in @INC")],
            between: "/",
            named: &[("PERL5LIB", ""), ("PERLLIB", "")],
            below: &["", "*"],
            files: &[".pm"],
        }),
    },
    // <https://www.lua.org/manual/5.4/manual.html#pdf-package.path>; the folders of LuaRocks in
    // a home: <https://github.com/luarocks/luarocks/wiki/Config-file-format>.
    Runtime {
        programs: &["lua", "luajit"],
        mark: None,
        variables: &["LUA_PATH*", "LUA_CPATH*"],
        places: &[
            Templates("LUA_PATH*"), Templates("LUA_CPATH*"),
            Home(".luarocks/share/lua"), Home(".luarocks/lib/lua"),
            Prefix("share/lua"), Prefix("lib/lua"),
        ],
        modules: Some(Modules {
            language: ModuleLanguage::Lua,
            says: &[(": module '", "' not found:")],
            between: ".",
            named: &[("LUA_PATH*", ""), ("LUA_CPATH*", "")],
            below: &["", "*"],
            files: &[".lua", "/init.lua", ".so"],
        }),
    },
    // The class path is given, or the folder that it is started in:
    // <https://docs.oracle.com/en/java/javase/21/docs/specs/man/java.html>.
    Runtime {
        programs: &["java"],
        mark: None,
        variables: &["CLASSPATH", "JAVA_HOME"],
        places: &[],
        modules: None,
    },
    // The folder of an installation, and where a program looks for it that `dotnet build` has
    // made: <https://learn.microsoft.com/dotnet/core/tools/dotnet-environment-variables>. Packages:
    // <https://learn.microsoft.com/nuget/consume-packages/managing-the-global-packages-and-cache-folders>.
    Runtime {
        programs: &["dotnet"],
        mark: Some(".runtimeconfig.json"),
        variables: &["DOTNET_ROOT*"],
        places: &[
            Beside("host"), Beside("shared"), Beside("sdk*"), Beside("packs"), Beside("store"),
            Variable("DOTNET_ROOT*", "host"), Variable("DOTNET_ROOT*", "shared"),
            Home(".nuget/packages"),
        ],
        modules: None,
    },
];

/// Programs that start others, which they may name anywhere.
const SHELLS: &[&str] = &[
    "sh", "ash", "bash", "busybox", "dash", "fish", "ksh", "make", "mksh", "zsh",
];

/// True if a variable of this name says where a runtime finds packages.
#[must_use]
pub fn is_package_variable(name: &OsStr) -> bool {
    let mut variables = RUNTIMES.iter().flat_map(|runtime| runtime.variables);
    variables.any(|pattern| matches(pattern, name))
}

/// True if a program of this name is one of a runtime's, which runs files of its language:
/// `python3.11`.
#[must_use]
pub fn is_of_a_runtime(program: &OsStr) -> bool {
    let mut programs = RUNTIMES.iter().flat_map(|runtime| runtime.programs);
    programs.any(|known| is_version_of(known, program))
}

/// True if a program of this name is one that starts others, which it may name anywhere.
#[must_use]
pub fn is_shell(program: &OsStr) -> bool {
    SHELLS.iter().any(|shell| program == OsStr::new(shell))
}

/// The modules of every language whose runtime says which one it did not find.
pub(crate) fn modules() -> impl Iterator<Item = &'static Modules> {
    RUNTIMES
        .iter()
        .filter_map(|runtime| runtime.modules.as_ref())
}

/// Those of a language.
pub(crate) fn modules_of(language: ModuleLanguage) -> Option<&'static Modules> {
    modules().find(|modules| modules.language == language)
}

/// What is known of a program that is to be started.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The programs that start it, with the links that lead to them: an interpreter, a shell.
    pub(crate) programs: &'a [PathBuf],
    /// The files that are named.
    pub(crate) named: Vec<&'a Path>,
    /// The folder that it is started in.
    pub(crate) folder: &'a Path,
    /// The variables that it is given.
    pub(crate) environment: &'a [(OsString, OsString)],
    /// The home of the user who has installed packages.
    pub(crate) home: Option<&'a Path>,
}

/// A folder or file of packages.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PackagePlace {
    pub(crate) path: PathBuf,
    /// Its path below the home, where it is looked for there.
    pub(crate) below_home: Option<PathBuf>,
}

/// The places that are there, of the runtimes that a program is started by. A shell may start
/// any of them.
pub(crate) fn places(start: &Start) -> Vec<PackagePlace> {
    let of = |runtime: &&Runtime| start.programs.iter().any(|file| runtime.starts(file));
    let mut runtimes: Vec<&Runtime> = RUNTIMES.iter().filter(of).collect();
    if runtimes.is_empty()
        && start
            .programs
            .iter()
            .any(|file| file.file_name().is_some_and(is_shell))
    {
        runtimes = RUNTIMES.iter().collect();
    }
    let places = runtimes.iter().flat_map(|runtime| runtime.found(start));
    let mut found: Vec<PackagePlace> = places.collect();
    found.sort();
    found.dedup();
    found
}

/// The places that are there, of the runtime of a language.
pub(crate) fn places_of(start: &Start, language: ModuleLanguage) -> Vec<PackagePlace> {
    let is_it = |runtime: &&Runtime| {
        let modules = runtime.modules.as_ref();
        modules.is_some_and(|modules| modules.language == language)
    };
    let runtimes = RUNTIMES.iter().filter(is_it);
    runtimes.flat_map(|runtime| runtime.found(start)).collect()
}

impl Runtime {
    /// The places of its packages that are there.
    fn found(&self, start: &Start) -> Vec<PackagePlace> {
        let programs = start.programs.iter().map(PathBuf::as_path);
        let own: Vec<&Path> = programs.filter(|file| self.has(file)).collect();
        let places = self.places.iter();
        places.flat_map(|place| place.found(&own, start)).collect()
    }

    /// True if a program is one of its own.
    fn has(&self, file: &Path) -> bool {
        let name = file.file_name().unwrap_or_default();
        self.programs.iter().any(|known| is_version_of(known, name))
    }

    /// True if a program is one of its own, or one that looks for it.
    fn starts(&self, file: &Path) -> bool {
        self.has(file)
            || self.mark.is_some_and(|mark| {
                let mut marked = file.file_name().unwrap_or_default().to_owned();
                marked.push(mark);
                file.with_file_name(marked).is_file()
            })
    }
}

impl Place {
    /// The places that are there, of a runtime that has these programs.
    fn found(self, programs: &[&Path], start: &Start) -> Vec<PackagePlace> {
        let below = |folder: &Path, pattern| matching(folder, Path::new(pattern));
        let paths: Vec<PathBuf> = match self {
            Home(pattern) => {
                let Some(home) = start.home else {
                    return Vec::new();
                };
                let found = below(home, pattern).into_iter();
                let places = found.map(|path| {
                    let below_home = path.strip_prefix(home).map(Path::to_owned).ok();
                    PackagePlace { path, below_home }
                });
                return places.collect();
            }
            Prefix(pattern) => {
                let folders = programs.iter().filter_map(|file| file.parent()?.parent());
                folders.flat_map(|folder| within(folder, pattern)).collect()
            }
            Beside(pattern) => {
                let folders = programs.iter().filter_map(|file| file.parent());
                folders.flat_map(|folder| within(folder, pattern)).collect()
            }
            Variable(name, pattern) => start
                .values(name)
                .flat_map(|value| below(&start.folder.join(value), pattern))
                .collect(),
            Templates(name) => start.values(name).flat_map(folders_of_templates).collect(),
            Above(name) => start
                .folders_above()
                .flat_map(|folder| {
                    // One of that name is one itself.
                    let is_one = folder.file_name() == Some(OsStr::new(name));
                    if is_one {
                        vec![folder.to_owned()]
                    } else {
                        within(folder, name)
                    }
                })
                .collect(),
            Nearest(name) => {
                let folders = start.named_folders();
                let nearest = |folder: &Path| {
                    let mut above = folder.ancestors();
                    let folder = above.find(|folder| folder.join(name).is_file());
                    folder.map(|folder| within(folder, name))
                };
                folders.filter_map(nearest).flatten().collect()
            }
            Machine(path) => below(Path::new("/"), path.trim_start_matches('/')),
        };
        let exact = |path| PackagePlace {
            path,
            below_home: None,
        };
        paths.into_iter().map(exact).collect()
    }
}

impl<'a> Start<'a> {
    pub(crate) fn values(
        &self,
        pattern: &'static str,
    ) -> impl Iterator<Item = &'a OsStr> + use<'a> {
        let variables = self.environment.iter();
        let named = variables.filter(move |(name, _)| matches(pattern, name));
        named
            .map(|(_, value)| value.as_os_str())
            .filter(|value| !value.is_empty())
    }

    /// The folders of the files that are named, and the one that it is started in.
    fn named_folders(&self) -> impl Iterator<Item = &'a Path> {
        let files = self.named.iter().filter_map(|file| file.parent());
        files.chain([self.folder])
    }

    fn folders_above(&self) -> impl Iterator<Item = &'a Path> {
        self.named_folders().flat_map(Path::ancestors)
    }
}

/// The paths below a folder that are there and match. Only the last name may have a `*`.
fn matching(folder: &Path, pattern: &Path) -> Vec<PathBuf> {
    let path = folder.join(pattern);
    let (Some(within), Some(name)) = (path.parent(), path.file_name()) else {
        return Vec::new();
    };
    let Some(begins) = name.as_bytes().strip_suffix(b"*") else {
        return if path.exists() {
            vec![path]
        } else {
            Vec::new()
        };
    };
    let entries = fs::read_dir(within).into_iter().flatten().flatten();
    let names = entries.take(MOST).map(|entry| entry.file_name());
    let matching = names.filter(|name| name.as_bytes().starts_with(begins));
    matching.map(|name| within.join(name)).collect()
}

/// The same, but those that links lead out of the folder from: whoever wrote a bot has made the
/// links in its folder, and does not decide what else is shown.
fn within(folder: &Path, pattern: &str) -> Vec<PathBuf> {
    let Ok(real) = fs::canonicalize(folder) else {
        return Vec::new();
    };
    let mut found = matching(folder, Path::new(pattern));
    found.retain(|path| fs::canonicalize(path).is_ok_and(|path| path.starts_with(&real)));
    found
}

/// The whole folders before the first `?` of templates. One that begins nowhere is in the
/// program's folder.
pub(crate) fn folders_of_templates(value: &OsStr) -> Vec<PathBuf> {
    let templates = value.as_bytes().split(|byte| *byte == b';');
    let before = templates.filter_map(|template| {
        let end = template
            .iter()
            .position(|byte| *byte == b'?')
            .unwrap_or(template.len());
        let slash = template[..end].iter().rposition(|byte| *byte == b'/')?;
        Some(PathBuf::from(OsStr::from_bytes(&template[..slash])))
    });
    before
        .filter(|folder| folder.is_absolute() && folder.is_dir())
        .collect()
}

/// True if a program's name is this one, or this one with a version: `python3.11`, `ruby-3.1`.
fn is_version_of(known: &str, name: &OsStr) -> bool {
    let Some(rest) = name.as_bytes().strip_prefix(known.as_bytes()) else {
        return false;
    };
    let mut version = rest.iter().skip_while(|byte| **byte == b'-').peekable();
    rest.is_empty() || version.peek().is_some_and(|byte| byte.is_ascii_digit())
}

fn matches(pattern: &str, name: &OsStr) -> bool {
    match pattern.strip_suffix('*') {
        Some(begins) => name.as_bytes().starts_with(begins.as_bytes()),
        None => name == OsStr::new(pattern),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_known_with_their_versions() {
        for program in [
            "python",
            "python3",
            "python3.13t",
            "ruby3.1",
            "ruby-3.1",
            "lua5.4",
            "luajit",
        ] {
            assert!(is_of_a_runtime(OsStr::new(program)), "{program}");
        }
        for other in ["pythonic", "noded", "rubyist", "bot", "luarocks", ""] {
            assert!(!is_shell(OsStr::new(other)), "{other}");
            assert!(!is_of_a_runtime(OsStr::new(other)), "{other}");
        }
    }

    #[test]
    fn variables_of_packages_are_known() {
        for name in [
            "PYTHONUSERBASE",
            "NODE_PATH",
            "LUA_PATH_5_4",
            "DOTNET_ROOT_X64",
            "CLASSPATH",
        ] {
            assert!(is_package_variable(OsStr::new(name)), "{name}");
        }
        for other in ["PYTHONSTARTUP", "LUA_INIT", "NODE_OPTIONS", "HOME"] {
            assert!(!is_package_variable(OsStr::new(other)), "{other}");
        }
    }

    #[test]
    fn templates_name_whole_folders_that_are_there() {
        let value = OsStr::new("/usr/lib/?.lua;/usr/li?.lua;./?.lua;?.lua;;/nowhere/?.lua;/etc/x");
        let found = folders_of_templates(value);
        assert_eq!(found, ["/usr/lib", "/usr", "/etc"].map(PathBuf::from));
    }
}
