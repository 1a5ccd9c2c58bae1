//! The second part of docs/cli.md: every verb with its arguments, as clap knows them.

use std::{fmt::Write as _, fs, path::Path};

use clap::{Arg, Command, CommandFactory as _};
use referee_cli::RefereeCommand;

use super::Cli;

/// The line of the page below which it is made here.
const START: &str = "<!-- Made by `UPDATE_EXPECT=1 cargo test -p arena --lib docs_cli`: change no line below. -->\n";

#[test]
fn docs_cli_has_every_verb_and_argument() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let there = fs::read_to_string(&path).unwrap();
    let (by_hand, _) = there.split_once(START).unwrap();
    let mut page = format!("{by_hand}{START}");
    for mut program in [Cli::command(), RefereeCommand::command()] {
        // So that a verb knows whose it is.
        program.build();
        page += &section(&program);
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&path, &page).unwrap();
    }
    assert!(
        fs::read_to_string(&path).unwrap() == page,
        "docs/cli.md is not current; renew it by \
         `UPDATE_EXPECT=1 cargo test -p arena --lib docs_cli`"
    );
}

/// Text of the page for a verb, and for those below it.
fn section(verb: &Command) -> String {
    let name = name(verb);
    let about = verb.get_long_about().or(verb.get_about()).unwrap();
    let usage = verb.clone().render_usage().to_string();
    let usage = usage.trim_start_matches("Usage:").trim();
    let mut section = format!(
        "\n### {name}\n\n{}\n\n```text\n{usage}\n```\n",
        sentence(&about.to_string())
    );

    let below = verb.get_subcommands();
    let below = below.filter(|verb| !verb.is_hide_set() && verb.get_name() != "help");
    let below: Vec<&Command> = below.collect();
    for (number, verb) in below.iter().enumerate() {
        let (name, about) = (self::name(verb), verb.get_about().unwrap());
        let (gap, anchor) = (if number == 0 { "\n" } else { "" }, name.replace(' ', "-"));
        let about = sentence(&about.to_string());
        let _ = writeln!(section, "{gap}- [{name}](#{anchor}): {about}");
    }

    // What every verb takes is with the program.
    let is_program = !name.contains(' ');
    let args = verb.get_arguments().filter(|arg| {
        let is_given_by_clap = ["help", "version"].contains(&arg.get_id().as_str());
        !is_given_by_clap && !arg.is_hide_set() && (is_program || !arg.is_global_set())
    });
    let mut args: Vec<&Arg> = args.collect();
    args.sort_by_key(|arg| !arg.is_positional());
    if !args.is_empty() {
        section += "\n| argument | meaning | default |\n| --- | --- | --- |\n";
    }
    section.extend(args.into_iter().map(row));

    if let Some(more) = verb.get_after_long_help().or(verb.get_after_help()) {
        let _ = write!(section, "\n```text\n{}\n```\n", more.to_string().trim_end());
    }
    section.extend(below.into_iter().map(self::section));
    section
}

/// As it is typed: `arena tournament run`.
fn name(verb: &Command) -> &str {
    verb.get_bin_name().unwrap_or(verb.get_name())
}

/// The row of an argument. Never what this machine's environment says.
fn row(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).unwrap().to_string();
    let (help, in_words) = help.split_once(" [default: ").unwrap_or((&help, ""));
    let mut meaning = sentence(help);
    let takes_values = arg.get_action().takes_values();
    if takes_values && !arg.is_hide_possible_values_set() {
        let values = arg.get_possible_values();
        let values = values.iter().filter(|value| !value.is_hide_set());
        let values = values.map(|value| match value.get_help() {
            Some(help) => format!("`{}` ({})", value.get_name(), escaped(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        });
        let values: Vec<String> = values.collect();
        if !values.is_empty() {
            let _ = write!(meaning, " Values: {}.", values.join(", "));
        }
    }
    if let (Some(variable), false) = (arg.get_env(), arg.is_hide_env_set()) {
        let _ = write!(meaning, " Variable: `{}`.", variable.display());
    }
    let mut default = escaped(in_words.trim_end_matches(['.', ']']));
    if takes_values && !arg.is_hide_default_value_set() {
        let values = arg.get_default_values().iter();
        let values: Vec<String> = values
            .map(|value| format!("`{}`", value.display()))
            .collect();
        default += &values.join(" ");
    }
    let short = arg.get_short().filter(|_| arg.get_long().is_some());
    let short = short
        .map(|short| format!("`-{short}`, "))
        .unwrap_or_default();
    let cells = [format!("{short}`{arg}`"), meaning, default];
    let cells = cells.map(|cell| {
        cell.replace("\n\n", " ")
            .replace('\n', " ")
            .replace('|', "\\|")
    });
    format!("| {} |\n", cells.join(" | "))
}

/// Text of clap, whose paragraphs may lack the full stop, as Markdown.
fn sentence(text: &str) -> String {
    let paragraphs = text.split("\n\n").map(|paragraph| {
        let is_ended = paragraph.ends_with(['.', ':']);
        escaped(paragraph) + if is_ended { "" } else { "." }
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

/// Text as Markdown: what is not code has no marks.
fn escaped(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(number, part)| match number % 2 {
        0 => part.replace('<', "&lt;").replace('*', "\\*"),
        _ => part.to_owned(),
    });
    parts.collect::<Vec<_>>().join("`")
}
