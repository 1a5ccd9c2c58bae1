//! The arguments of the verbs that the program `arena-serve` does.

mod kubernetes;
mod page;
mod pages;
mod serve;

pub use kubernetes::{
    ClusterArgs, ClusterCancelArgs, ClusterStatusArgs, DoctorArgs, KubernetesCommand, LogsArgs,
    ObjectFormat, RenderArgs,
};
pub use page::PageArgs;
pub use pages::{
    ExportArgs, ExportFormat, PictureFormat, PlotArgs, ReportArgs, one_of, text_formats,
};
pub use serve::{PodArgs, ServeArgs};

/// The program's name: its file lies beside that of `arena`.
pub const PROGRAM: &str = "arena-serve";
