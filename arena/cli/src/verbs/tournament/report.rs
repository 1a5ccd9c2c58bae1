//! `arena tournament report` and `plot`: a tournament as a file to hand out.

use std::path::PathBuf;

use arena_web::{Language, tournament_html, tournament_svg};
use clap::Args;

use crate::{
    End,
    verbs::{store::StoreAt, write_new},
};

#[derive(Args)]
pub(crate) struct Report {
    /// Its name.
    name: String,
    /// The file: one page with standings, plots, and games, which needs no server.
    #[arg(long, value_name = "FILE")]
    html: PathBuf,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    store: StoreAt,
}

#[derive(Args)]
pub(crate) struct Plot {
    /// Its name.
    name: String,
    /// The file: the ratings with their error bars, as SVG.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    store: StoreAt,
}

impl Report {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, _) = self.store.find(&self.name).await?;
        let html = tournament_html(&store, &self.name, Language::En).await;
        store.close().await;
        write_new(&self.html, html?.as_bytes(), self.force)
    }
}

impl Plot {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (store, _) = self.store.find(&self.name).await?;
        let svg = tournament_svg(&store, &self.name, Language::En).await;
        store.close().await;
        write_new(&self.out, svg?.as_bytes(), self.force)
    }
}
