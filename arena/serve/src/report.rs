//! `arena tournament report` and `plot`: a tournament as a file to hand out.

use std::{
    io::{self, Read as _, Seek as _, SeekFrom},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use arena_store::Store;
use arena_terminal::{
    advice,
    beside::{PlotArgs, ReportArgs},
    logs_of_tournament,
};
use arena_tournament::Plan;
use arena_web::{BotLog, Language, bot_html, tournament_html, tournament_svg};
use referee_bots::{hint_for, is_log_of, open_input};
use referee_cli::{End, bots::schemes};
use referee_core::Foul;

use crate::written::write_new;

/// Most bytes of a log that are shown: its end.
const LOG_END: u64 = 64 * 1024;
/// Most logs of a bot that are shown: those that were written last.
const LOGS: usize = 8;

pub(crate) async fn report(args: &ReportArgs) -> anyhow::Result<End> {
    let (store, _) = args.store.find(&args.name).await?;
    let html = match &args.bot {
        None => tournament_html(&store, &args.name, Language::En).await,
        Some(bot) => {
            let folder = args
                .logs
                .clone()
                .unwrap_or_else(|| logs_of_tournament(&args.name));
            let logs = logs_of(bot, &folder)?;
            let advice = adviser(&store, &args.name, bot).await?;
            bot_html(&store, &args.name, bot, &logs, advice, Language::En).await
        }
    };
    store.close().await;
    write_new(&args.html, html?.as_bytes(), args.force)
}

/// Gives advice on a bot's fouls. The walls that it was behind are not known here.
async fn adviser(
    store: &Store,
    name: &str,
    bot: &str,
) -> anyhow::Result<impl Fn(&Foul) -> Option<String>> {
    let tournament = store.tournament(name).await?;
    let plan = tournament.map(|tournament| Plan::of(&tournament, &schemes()?));
    let plan = plan.transpose()?;
    let bots = plan.iter().flat_map(|plan| &plan.bots);
    let entry = bots
        .map(|bot| bot.entry.clone())
        .find(|entry| entry.name == bot);
    let directory = plan.map_or_else(PathBuf::new, |plan| plan.definition.directory.clone());
    Ok(move |foul: &Foul| {
        let entry = entry.as_ref()?;
        let hint = hint_for(foul, entry, &directory, None);
        advice(hint.as_ref(), foul, entry)
    })
}

/// The ends of a bot's logs in a folder, the newest first. A folder that is not there has none: a
/// bot may run elsewhere.
fn logs_of(bot: &str, folder: &Path) -> anyhow::Result<Vec<BotLog>> {
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.with_context(|| format!("could not read {}", folder.display()))?,
    };
    for entry in entries {
        let entry = entry?;
        let file = entry.file_name().to_string_lossy().into_owned();
        if is_log_of(bot, &file) {
            found.push((entry.metadata()?.modified()?, file, entry.path()));
        }
    }
    found.sort();
    found
        .into_iter()
        .rev()
        .take(LOGS)
        .map(|(_, name, path)| {
            let end = end_of(&path);
            let end = end.with_context(|| format!("could not read {}", path.display()))?;
            Ok(BotLog { name, end })
        })
        .collect()
}

fn end_of(path: &Path) -> io::Result<String> {
    let mut file = open_input(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOG_END)))?;
    let mut end = Vec::new();
    file.take(LOG_END).read_to_end(&mut end)?;
    Ok(String::from_utf8_lossy(&end).into_owned())
}

pub(crate) async fn plot(args: &PlotArgs) -> anyhow::Result<End> {
    let (store, _) = args.store.find(&args.name).await?;
    let svg = tournament_svg(&store, &args.name, Language::En).await;
    store.close().await;
    write_new(&args.out, svg?.as_bytes(), args.force)
}
