//! `arena tournament report` and `plot`: a tournament as a file to hand out.

use arena_terminal::beside::{PlotArgs, ReportArgs};
use arena_web::{Language, tournament_html, tournament_svg};
use referee_cli::End;

use crate::written::write_new;

pub(crate) async fn report(args: &ReportArgs) -> anyhow::Result<End> {
    let (store, _) = args.store.find(&args.name).await?;
    let html = tournament_html(&store, &args.name, Language::En).await;
    store.close().await;
    write_new(&args.html, html?.as_bytes(), args.force)
}

pub(crate) async fn plot(args: &PlotArgs) -> anyhow::Result<End> {
    let (store, _) = args.store.find(&args.name).await?;
    let svg = tournament_svg(&store, &args.name, Language::En).await;
    store.close().await;
    write_new(&args.out, svg?.as_bytes(), args.force)
}
