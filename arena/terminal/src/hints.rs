//! The words for what a bot's author may have overlooked.

use referee_bots::Hint;

/// Advice, in one line.
pub fn words(hint: &Hint) -> String {
    match hint {
        Hint::NotExecutable { file, interpreter } => {
            let file = file.display();
            let how = match interpreter {
                Some(interpreter) => format!(
                    "use 'exec:{interpreter} {file}', or make it one with a #! line and chmod +x \
                     {file}"
                ),
                None => format!(
                    "make it one with chmod +x {file}, or name the program that runs it, as in \
                     'exec:python3 {file}'"
                ),
            };
            format!("{file} is not an executable program: {how}")
        }
        Hint::NotInPath { file } => {
            let file = file.display();
            format!("a program in this folder is started with ./: use exec:./{file}")
        }
        Hint::Heap { program, option } => {
            let program = program.display();
            format!(
                "the heap is a part of what {program} takes: let it have half of the limit at \
                 most, as in 'exec:{program} {option} …'"
            )
        }
        Hint::MissingPackage { python, package } => {
            let python = python.display();
            format!(
                "{python} has no package {package}: install it for that python, or name the \
                 python that has it, as in 'exec:venv/bin/python FILE'"
            )
        }
    }
}
