//! Compiles the .proto files with protox, so that no protoc is needed. Every
//! file under `arena/` and `games/` is found here and becomes a module of the
//! path that its package names: adding a game is adding its file.

use std::{
    env,
    error::Error,
    fs, io,
    path::{Path, PathBuf},
};

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let mut files = Vec::new();
    for folder in ["arena", "games"] {
        find(Path::new(folder), &mut files)?;
    }
    files.sort();
    let mut compiler = protox::Compiler::new(["."])?;
    compiler.include_imports(true).include_source_info(true);
    for file in &files {
        compiler.open_file(file)?;
    }
    // Encoded by the compiler, which keeps our option of values.
    let encoded = compiler.encode_file_descriptor_set();
    fs::write(out.join("descriptors.bin"), encoded)?;
    let descriptors = compiler.file_descriptor_set();
    let grpc = env::var_os("CARGO_FEATURE_GRPC").is_some();
    tonic_prost_build::configure()
        .build_client(grpc)
        .build_server(grpc)
        .bytes(".")
        .codec_path("crate::codec::SmallCodec")
        .include_file("packages.rs")
        .compile_fds(descriptors)?;
    Ok(())
}

/// All .proto files below a folder. Cargo runs this again when a folder or a
/// file in it changes.
fn find(folder: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    println!("cargo:rerun-if-changed={}", folder.display());
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, files)?;
        } else if path.extension().is_some_and(|kind| kind == "proto") {
            println!("cargo:rerun-if-changed={}", path.display());
            files.push(path);
        }
    }
    Ok(())
}
