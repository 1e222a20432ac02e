//! `rehome hash`: the digest and the first probe words of one key, for people who port the functions.

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;
use rehome::algorithm::KeyRule;
use rehome::hash::{KeyHash, KeyHasher, ProbeSequence};
use rehome::io::{BadRows, Blank, LineDecoder, ReadOptions};
use rehome::{Cluster, Error, Key, KeyColumn, KeyType, NodeId, Placement, Result};

use super::afford::YesArgs;
use super::failure::Failure;
use super::message;

const EXAMPLES: &str = "\
Examples:
  rehome hash user:42
  rehome hash 42 --key-type u64 --seed 7 --json
  rehome hash user:42 --cluster c10.toml
  rehome hash --key-type i64 -- -5";

/// Arguments of `rehome hash`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct HashArgs {
    /// The key
    #[arg(value_name = "KEY")]
    key: String,
    /// What the key is: text, bytes (hexadecimal), u64, i64, u32, i32 or uuid (default: what the cluster says, else text)
    #[arg(long, value_name = "TYPE", value_parser = clap::value_parser!(KeyType))]
    key_type: Option<KeyType>,
    /// The key hash: default, xxh3, xxh64, murmur3, crc32 or identity
    #[arg(long, value_name = "HASH", value_parser = clap::value_parser!(KeyHash), conflicts_with = "cluster")]
    hash: Option<KeyHash>,
    /// The seed
    #[arg(long, value_name = "N", conflicts_with = "cluster")]
    seed: Option<u64>,
    /// Take hash, seed and key type from this cluster file, and show the key's node
    #[arg(short, long, value_name = "FILE")]
    cluster: Option<PathBuf>,
    /// Probe words to show
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u32).range(..=65_536))]
    words: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    cost: YesArgs,
}

/// What is told of a key.
struct Told {
    word: u64,
    is_digest: bool,
    probes: Vec<u32>,
    node: Option<(Placement, NodeId, u64)>,
}

/// Runs `rehome hash`.
pub(crate) fn run(args: HashArgs) -> Result<ExitCode, Failure> {
    let cluster = args.cluster.as_ref().map(Cluster::from_path).transpose()?;
    let hasher = match &cluster {
        Some(cluster) => cluster.hasher()?,
        None => KeyHasher::new(args.hash.unwrap_or_default(), args.seed.unwrap_or(0))?,
    };
    let of_file = cluster.as_ref().and_then(Cluster::key);
    if let Some((flag, file)) = args.key_type.zip(of_file).filter(|(flag, file)| flag != file) {
        return Err(Failure::usage(format!("--key-type says {flag}, but the cluster file says {file}")));
    }
    let key_type = args.key_type.or(of_file).unwrap_or(KeyType::Text);
    let word = word_of(&args.key, key_type, &hasher)?;
    let placement = cluster.as_ref().zip(args.cluster.as_deref());
    let placement = placement.map(|(cluster, file)| args.cost.placement(cluster, file, false)).transpose()?;
    let told = Told {
        word,
        is_digest: cluster.as_ref().is_none_or(|cluster| cluster.algorithm().keys == KeyRule::Digest),
        probes: ProbeSequence::new(word).take(args.words as usize).collect(),
        node: placement.map(|placement| {
            let (node, length) = placement.lookup().locate(word);
            (placement, node, length)
        }),
    };
    message::print(&if args.json { json(&told) } else { text(&told) })?;
    Ok(ExitCode::SUCCESS)
}

/// Reads the key as it stands: text is its bytes, other types are read as a file of one line would be.
fn word_of(key: &str, key_type: KeyType, hasher: &KeyHasher) -> Result<u64> {
    let not_a_key = || Error::invalid(format!("{key:?} is not one key"), "pass a key without a newline");
    if key.contains('\n') || key_type != KeyType::Text && key.contains(['\r', '\u{feff}']) {
        return Err(not_a_key());
    }
    if key_type == KeyType::Text {
        return hasher.word(Key::Bytes(key.as_bytes()));
    }
    // Bad rows are passed over and told here: there is no line to name, and none to skip.
    let options =
        ReadOptions { key_type: Some(key_type), blank: Blank::Keep, bad_rows: BadRows::Skip, ..ReadOptions::default() };
    let mut decoder = LineDecoder::new(&options);
    let line = format!("{key}\n");
    let mut taken = 0;
    while taken < line.len() && !decoder.is_full() {
        taken += decoder.decode(&line.as_bytes()[taken..])?;
    }
    decoder.end()?;
    if let Some(bad) = decoder.report().first_bad.first() {
        return Err(Error::invalid(format!("{key:?} {}", bad.reason), ""));
    }
    let chunk = decoder.take_chunk()?.filter(|chunk| chunk.len() == 1).ok_or_else(not_a_key)?;
    let key: Key<'_> = chunk.keys(0).get(0);
    hasher.word(key)
}

fn text(told: &Told) -> String {
    let label = if told.is_digest { "digest" } else { "key word" };
    let mut text = format!("{label:<14}{:#018x}  {}\n", told.word, told.word);
    if told.is_digest {
        for (index, probe) in told.probes.iter().enumerate() {
            let _ = writeln!(text, "{:<14}{probe:#010x}  {probe}", format!("probe {index}"));
        }
    }
    if let Some((placement, node, length)) = &told.node {
        let name = placement.node_name(*node).unwrap_or("(none)");
        let _ = writeln!(text, "{:<14}{name}", "node");
        if let Some(slot) = slot(placement, *node) {
            let _ = writeln!(text, "{:<14}{slot}", "slot");
        }
        let _ = writeln!(text, "{:<14}{length}", "search length");
    }
    text
}

fn json(told: &Told) -> String {
    let mut value = serde_json::json!({});
    value[if told.is_digest { "digest" } else { "key_word" }] = told.word.into();
    if told.is_digest {
        value["probe"] = told.probes.clone().into();
    }
    if let Some((placement, node, length)) = &told.node {
        value["node"] = placement.node_name(*node).into();
        value["slot"] = slot(placement, *node).into();
        value["search_length"] = (*length).into();
    }
    format!("{value:#}\n")
}

fn slot(placement: &Placement, node: NodeId) -> Option<u32> {
    placement.cluster().nodes()[node.index()?].slot()
}
