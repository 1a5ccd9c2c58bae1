//! Every runtime finds the packages that its user has installed, wherever that is, and nothing
//! else of a home is seen.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    process::Command,
};

use referee_sandbox::{Outer, Program, ProgramEnd};
use tempfile::TempDir;

use crate::{
    common::{every_kind, kinds, open_folder, python, run, sandbox, script},
    languages::{compile, is_installed, program},
};

/// A home that nobody else may enter, with a secret in it.
struct Home {
    _folder: TempDir,
    path: PathBuf,
}

impl Home {
    fn new() -> Self {
        let folder = open_folder();
        let path = folder.path().join("home");
        fs::create_dir(&path).unwrap();
        fs::write(path.join("secret"), "secret").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        let _folder = folder;
        Self { _folder, path }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    fn program_file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.file(name, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// What a program says, in every kind of sandbox.
    fn says(&self, kinds: Vec<Outer>, program: &Program, expected: &str) {
        let program = Program {
            home: Some(self.path.clone()),
            ..program.clone()
        };
        for kind in kinds {
            let ran = run(&sandbox(kind), &program);
            let said = (ran.end, &*ran.said);
            let expected = (ProgramEnd::Exited(0), expected);
            assert_eq!(said, expected, "{kind}: {}", ran.errors);
        }
    }
}

fn with(mut program: Program, name: &str, value: &Path) -> Program {
    program.environment.push((name.into(), value.into()));
    program
}

/// A stand-in for a program of each runtime, and a place of packages below the home.
const PLACES: &[(&str, &str)] = &[
    ("python3.11", ".local/lib/python3.11/site-packages/kit"),
    ("pypy3", ".local/lib/pypy3.10/site-packages/kit"),
    ("node", ".node_modules/kit"),
    ("nodejs", ".node_libraries/kit"),
    ("ruby3.1", ".local/share/gem/ruby/3.1.0/gems/kit"),
    ("ruby", ".gem/ruby/3.1.0/gems/kit"),
    ("perl5.36.0", "perl5/lib/perl5/kit"),
    ("lua5.4", ".luarocks/share/lua/5.4/kit"),
    ("luajit", ".luarocks/lib/lua/5.1/kit"),
    ("dotnet", ".nuget/packages/kit"),
    // A shell may start any of them.
    ("bot.sh", ".local/lib/python3.11/site-packages/kit"),
    ("bot.sh", ".local/share/gem/ruby/3.1.0/gems/kit"),
];

#[test]
fn packages_of_a_home_are_seen_at_their_place_and_in_the_programs_own_home() {
    for (name, place) in PLACES {
        let home = Home::new();
        let packages = home.file(place, "packages\n");
        let secret = home.path.join("secret");
        let text = format!(
            "#!/bin/sh\n\
             cat \"$HOME/{place}\" {packages:?}\n\
             cat {secret:?} && echo SEEN\n\
             echo x > {packages:?} && echo WRITTEN\n\
             exit 0"
        );
        let bot = home.program_file(&format!("bots/mine/{name}"), &text);
        let started = program(&bot, &[], &home.path);
        home.says(every_kind(), &started, "packages\npackages\n");
    }
}

#[test]
fn packages_of_another_runtime_are_not_seen() {
    let home = Home::new();
    let gem = home.file(".gem/ruby/3.1.0/gems/kit", "secret");
    let text = format!("import os; print(os.path.exists({gem:?}), os.listdir(os.environ['HOME']))");
    home.says(kinds(), &script(&text, &[]), "False []\n");
}

#[test]
fn a_folder_of_packages_that_is_the_whole_home_is_not_shown() {
    let home = Home::new();
    symlink("..", home.path.join(".node_modules")).unwrap();
    let secret = home.path.join("secret");
    let text = format!("#!/bin/sh\ncat {secret:?} \"$HOME/.node_modules/secret\"; exit 0");
    let bot = home.program_file("bots/mine/node", &text);
    home.says(every_kind(), &program(&bot, &[], &home.path), "");
}

#[test]
fn links_of_a_bot_show_nothing_of_others() {
    let home = Home::new();
    let other = home.file("bots/other/package.json", "secret");
    for (name, target) in [
        ("node_modules", "../other"),
        ("package.json", "../other/package.json"),
        ("lib", "../other"),
    ] {
        fs::create_dir_all(home.path.join("bots/mine")).unwrap();
        symlink(target, home.path.join("bots/mine").join(name)).unwrap();
    }
    home.file("bots/other/node/secret", "secret");
    let text = format!(
        "#!/bin/sh\ncd bots/mine\n\
         cat {other:?} package.json node_modules/package.json lib/node/secret; exit 0"
    );
    let bot = home.program_file("bots/mine/bin/node", &text);
    home.says(every_kind(), &program(&bot, &[], &home.path), "");
    let bot = home.program_file("bots/mine/node", &text);
    home.says(every_kind(), &program(&bot, &[], &home.path), "");
}

#[test]
fn what_is_hidden_stays_hidden_among_packages() {
    let home = Home::new();
    let seeds = home.file(".node_modules/seeds", "secret");
    let kit = home.file(".node_modules/kit", "packages\n");
    let text = format!("#!/bin/sh\ncat {seeds:?} {kit:?}; exit 0");
    let bot = home.program_file("bots/mine/node", &text);
    let mut started = program(&bot, &[], &home.path);
    started.hidden = vec![seeds.clone()];
    home.says(every_kind(), &started, "packages\n");
    started.hidden = vec![kit, seeds, home.path.join(".node_modules")];
    home.says(every_kind(), &started, "");
}

/// The folder of packages of the Python of these tests, below its prefix.
fn site_packages() -> String {
    let code = "import sys; print(f'lib/python{sys.version_info[0]}.{sys.version_info[1]}')";
    let output = Command::new(python()).args(["-c", code]).output().unwrap();
    let lib = String::from_utf8(output.stdout).unwrap();
    format!("{}/site-packages", lib.trim())
}

const KIT: &str = "print('well')";
const IMPORT: &str = "import kit";

#[test]
fn python_finds_what_pip_has_installed_for_the_user() {
    let home = Home::new();
    let packages = site_packages();
    home.file(&format!(".local/{packages}/kit.py"), KIT);
    home.says(every_kind(), &script(IMPORT, &[]), "well\n");
    // Also where another program starts it, by its name.
    let mut niced = script(IMPORT, &["python3"]);
    niced.path = "nice".into();
    niced.arguments.rotate_right(1);
    home.says(kinds(), &niced, "well\n");
    // Without it the same fails.
    let ran = run(&sandbox(kinds()[0]), &script(IMPORT, &[]));
    assert!(ran.errors.contains("No module named 'kit'"), "{ran:?}");

    let home = Home::new();
    home.file(&format!("base/{packages}/kit.py"), KIT);
    let base = home.path.join("base");
    let program = with(script(IMPORT, &[]), "PYTHONUSERBASE", &base);
    home.says(every_kind(), &program, "well\n");
}

#[test]
fn python_finds_the_packages_of_an_environment_also_of_a_hidden_or_a_copied_one() {
    for kind in ["--symlinks", "--copies"] {
        for place in [".venv", ".virtualenvs/mine", "bots/mine/venv"] {
            let home = Home::new();
            let venv = home.path.join(place);
            let mut make = Command::new(python());
            make.args(["-m", "venv", "--without-pip", kind]).arg(&venv);
            assert!(make.status().unwrap().success());
            fs::write(venv.join(site_packages()).join("kit.py"), KIT).unwrap();
            let started = Program {
                path: venv.join("bin/python"),
                ..script(IMPORT, &[])
            };
            home.says(every_kind(), &started, "well\n");
            let bot = format!("#!{}/bin/python\n{IMPORT}\n", venv.display());
            let bot = home.program_file("bots/mine/bot.py", &bot);
            home.says(kinds(), &program(&bot, &[], &home.path), "well\n");
            // The same as what another program starts.
            let words = ["5", bot.to_str().unwrap()];
            let timed = program(Path::new("timeout"), &words, &home.path);
            home.says(kinds(), &timed, "well\n");
        }
    }
}

#[test]
fn node_finds_packages_in_the_folders_above_and_what_kind_its_module_is() {
    if !is_installed("node") {
        return;
    }
    let home = Home::new();
    let kit = "module.exports = 'well';";
    home.file("project/node_modules/kit/index.js", kit);
    home.file("node_modules/other/index.js", kit);
    home.file(".node_modules/third/index.js", kit);
    home.file("project/package.json", r#"{ "type": "module" }"#);
    let bot = home.file(
        "project/bots/mine/bot.js",
        "import kit from 'kit'; import other from 'other';\n\
         import { createRequire } from 'node:module';\n\
         const third = createRequire(import.meta.url)('third');\n\
         console.log(kit, other, third);",
    );
    let words = [bot.to_str().unwrap()];
    let started = program(Path::new("node"), &words, Path::new("/"));
    home.says(every_kind(), &started, "well well well\n");
    let project = home.path.join("project/bots");
    let words = ["-e", "console.log(require('kit'))"];
    let evaluated = program(Path::new("node"), &words, &project);
    home.says(kinds(), &evaluated, "well\n");
    let wherever = with(
        program(
            Path::new("node"),
            &["-e", "console.log(require('kit'))"],
            Path::new("/"),
        ),
        "NODE_PATH",
        &home.path.join("project/node_modules"),
    );
    home.says(every_kind(), &wherever, "well\n");
}

#[test]
fn ruby_finds_the_gems_of_its_user_and_of_the_machine() {
    if !is_installed("ruby") {
        return;
    }
    let asked = Command::new("ruby")
        .args(["-e", "puts Gem.user_dir, Gem.default_dir"])
        .env("HOME", "/nowhere")
        .output()
        .unwrap();
    let said = String::from_utf8(asked.stdout).unwrap();
    let (user, machine) = said.trim().split_once('\n').unwrap();
    let user = user.strip_prefix("/nowhere/").unwrap();
    let gem = |home: &Home, folder: &str| {
        home.file(&format!("{folder}/gems/kit-1.0/lib/kit.rb"), "puts 'well'");
        home.file(
            &format!("{folder}/specifications/kit-1.0.gemspec"),
            "Gem::Specification.new { |s| s.name = 'kit'; s.version = '1.0'; s.summary = 'x'; \
             s.authors = ['x']; s.files = ['lib/kit.rb'] }",
        );
    };
    let started = program(Path::new("ruby"), &["-e", "require 'kit'"], Path::new("/"));
    let home = Home::new();
    gem(&home, user);
    home.says(every_kind(), &started, "well\n");
    for variable in ["GEM_HOME", "GEM_PATH"] {
        let home = Home::new();
        gem(&home, "gems");
        let gems = home.path.join("gems");
        home.says(
            every_kind(),
            &with(started.clone(), variable, &gems),
            "well\n",
        );
    }
    if Path::new(machine).is_dir() {
        let sees = format!("puts File.directory?({machine:?})");
        let sees = program(Path::new("ruby"), &["-e", &sees], Path::new("/"));
        home.says(every_kind(), &sees, "true\n");
    }
}

#[test]
fn perl_finds_the_modules_of_its_user() {
    if !is_installed("perl") {
        return;
    }
    let home = Home::new();
    home.file("perl5/lib/perl5/Kit.pm", "print \"well\\n\"; 1;");
    let library = "use lib \"$ENV{HOME}/perl5/lib/perl5\"; use Kit;";
    let started = program(Path::new("perl"), &["-e", library], Path::new("/"));
    home.says(every_kind(), &started, "well\n");
    let started = program(Path::new("perl"), &["-MKit", "-e", "1"], Path::new("/"));
    let library = home.path.join("perl5/lib/perl5");
    home.says(every_kind(), &with(started, "PERL5LIB", &library), "well\n");
}

#[test]
fn lua_finds_the_modules_that_its_variables_name() {
    let lua = ["lua5.4", "lua5.3", "lua", "luajit"];
    let Some(lua) = lua
        .into_iter()
        .find(|lua| Command::new(lua).arg("-v").output().is_ok())
    else {
        eprintln!("lua is not installed: not tested");
        return;
    };
    for place in [".luarocks/share/lua/5.4", "modules"] {
        let home = Home::new();
        home.file(&format!("{place}/kit.lua"), "print('well')");
        let started = program(Path::new(lua), &["-e", "require 'kit'"], Path::new("/"));
        let templates = home.path.join(place).join("?.lua;;");
        home.says(
            every_kind(),
            &with(started, "LUA_PATH", &templates),
            "well\n",
        );
    }
}

#[test]
fn java_finds_the_archives_of_its_class_path() {
    if !(is_installed("javac") && is_installed("jar")) {
        return;
    }
    let home = Home::new();
    let text = "public class Kit { \
                public static void main(String[] words) { System.out.println(\"well\"); } }";
    home.file("build/Kit.java", text);
    fs::create_dir(home.path.join("libraries")).unwrap();
    let build = home.path.join("build");
    compile("javac", &["Kit.java"], &build);
    compile("jar", &["cf", "../libraries/kit.jar", "Kit.class"], &build);
    let all = home.path.join("libraries/*");
    let named = program(
        Path::new("java"),
        &["-cp", all.to_str().unwrap(), "Kit"],
        Path::new("/"),
    );
    home.says(kinds(), &named, "well\n");
    let started = program(Path::new("java"), &["Kit"], Path::new("/"));
    home.says(kinds(), &with(started, "CLASSPATH", &all), "well\n");
}

#[test]
fn dotnet_finds_its_own_folders_in_a_hidden_folder_of_a_home() {
    let home = Home::new();
    let text = |folder: &Path| {
        let path = |name: &str| folder.join(name);
        let (shared, keys) = (path("shared/kit"), path("corefx/key"));
        format!("#!/bin/sh\ncat {shared:?} {keys:?}; exit 0")
    };
    let root = home.path.join(".dotnet");
    home.file(".dotnet/shared/kit", "packages\n");
    home.file(".dotnet/corefx/key", "secret");
    let dotnet = home.program_file(".dotnet/dotnet", &text(&root));
    home.says(
        every_kind(),
        &program(&dotnet, &[], &home.path),
        "packages\n",
    );
    // A program that `dotnet build` has made looks for it.
    let bot = home.program_file("bots/mine/bot", &text(&root));
    home.file("bots/mine/bot.runtimeconfig.json", "{}");
    let started = with(program(&bot, &[], &home.path), "DOTNET_ROOT", &root);
    home.says(every_kind(), &started, "packages\n");
}
