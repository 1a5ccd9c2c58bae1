//! Writes the corpus that can be computed, into `fuzz/corpus`: `cargo run -p fuzz-targets
//! --example corpus`. What was found by fuzzing lies beside it and stays.
#![expect(clippy::unwrap_used, reason = "it is run by hand")]

use std::{fs, path::Path};

use fuzz_targets::{Mutator, played};
use referee_core::pack;
use referee_games::GAMES;

fn main() {
    let mut random = Mutator::new(2026);
    for (number, game) in (0_u8..).zip(GAMES) {
        let name = game.info().name;
        for part in 0..3_u8 {
            // A game that is played for a while and then ends with a foul of each kind.
            let mut script = vec![number, part, part];
            let moves = 12 + 12 * usize::from(part);
            script.extend((0..2 * moves).map(|_| random.below(240) as u8));
            script.extend([253, 0, 254, 0, 240, 2, 8, 1, 255, 0, 1]);
            write("answers", &format!("{name}-{part}"), &script);
            let record = played(&script).to_json_lines();
            if part == 0 {
                write("records", name, record.as_bytes());
            }
            write(
                "packed_records",
                &format!("{name}-{part}"),
                &pack::pack(&record),
            );
        }
        for trial in game.trials() {
            let file = format!(
                "{name}-{}",
                trial.name.replace(|c: char| !c.is_alphanumeric(), "-")
            );
            let input = [&[number], trial.setup.as_bytes()].concat();
            write("setups", &file, &input);
        }
    }
}

fn write(target: &str, name: &str, content: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
}
