//! Compiles the .proto files with protox, so that no protoc is needed.

use std::{env, error::Error, fs, path::PathBuf};

use prost::Message as _;

/// Every .proto file; adding a game is adding its line.
const FILES: &[&str] = &[
    "arena/v1/envelope.proto",
    "arena/v1/referee.proto",
    "games/connect_four/v1/connect_four.proto",
];

fn main() -> Result<(), Box<dyn Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    for file in FILES {
        println!("cargo:rerun-if-changed={file}");
    }
    let descriptors = protox::compile(FILES, ["."])?;
    fs::write(out.join("descriptors.bin"), descriptors.encode_to_vec())?;
    let grpc = env::var_os("CARGO_FEATURE_GRPC").is_some();
    tonic_prost_build::configure()
        .build_client(grpc)
        .build_server(grpc)
        .bytes(".")
        .codec_path("crate::codec::SmallCodec")
        .compile_fds(descriptors)?;
    Ok(())
}
