//! On which node does each key live, and what moves when the cluster changes?
//!
//! rehome answers for millions to billions of keys at once, with placement functions that are frozen as a wire format
//! (`spec/placement.md`). A [`Cluster`] is what you describe and edit, a [`Placement`] is a cluster compiled for lookup,
//! and an [`Engine`] runs batches and streams of keys through placements on all processors.
//!
//! ```
//! use rehome::{Cluster, Engine, Node, NodeId};
//!
//! let ten = Cluster::builder("dx")?.slots(16).nodes((0..10).map(|i| Node::new(format!("node-{i}")))).build()?;
//! let mut eleven = ten.clone();
//! eleven.add(Node::new("node-10"))?;
//!
//! let engine = Engine::builder().build()?;
//! let keys: Vec<u64> = (0..11_000).collect();
//! let (mut before, mut after) = (vec![NodeId::NONE; keys.len()], vec![NodeId::NONE; keys.len()]);
//! engine.locate(&ten.placement()?, &keys, &mut before)?;
//! engine.locate(&eleven.placement()?, &keys, &mut after)?;
//! let moved = before.iter().zip(&after).filter(|(a, b)| a != b).count();
//! assert!((800..1200).contains(&moved)); // about one key in eleven, all of them to the new node
//! # Ok::<(), rehome::Error>(())
//! ```
//!
//! # Features
//! `cli` (default) is the command-line tool, `io` key files, result files, node tables and plan directories. Without
//! both, the placement functions, clusters in TOML and JSON, the engine and plans in memory remain.

pub mod algorithm;
mod clock;
pub mod cluster;
pub mod cpu;
pub mod engine;
pub mod error;
pub mod hash;
#[cfg(feature = "io")]
pub mod io;
mod keys;
mod lanes;
pub mod measure;
pub mod placement;
pub mod plan;

pub use algorithm::{Algorithm, algorithms};
pub use cluster::{Cluster, ClusterBuilder, ClusterDiff, Node, Spread, Storage};
pub use engine::{Engine, EngineBuilder};
pub use error::{Error, ErrorKind, Result};
pub use keys::{Key, KeyBuffer, KeyColumn, KeyType, Keys};
pub use placement::{NodeId, Placement};
