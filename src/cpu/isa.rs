//! The instruction sets that kernels are made for, and which of them this processor has.

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

use crate::error::{Error, Result, by_name};

/// An instruction set, or plain integer code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Isa {
    /// Plain integer code: every processor.
    Scalar,
    /// ARM's NEON, four lanes of 32 bits: every 64-bit ARM processor.
    Neon,
    /// AVX2, eight lanes: x86-64 processors since about 2013.
    Avx2,
    /// AVX-512 with F, BW, VL and DQ, sixteen lanes.
    Avx512,
}

impl Isa {
    /// Every instruction set, the widest last.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Neon, Self::Avx2, Self::Avx512];

    /// Its name on the command line and in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Neon => "neon",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
        }
    }

    /// The number of 32-bit lanes.
    pub fn lanes(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Neon => 4,
            Self::Avx2 => 8,
            Self::Avx512 => 16,
        }
    }

    /// Why this processor cannot run it; none if it can. Looked up once per process.
    pub fn missing(self) -> Option<&'static str> {
        static MISSING: OnceLock<[Option<String>; 4]> = OnceLock::new();
        MISSING.get_or_init(|| Self::ALL.map(Self::look))[self as usize].as_deref()
    }

    /// Whether this processor can run it.
    pub fn is_available(self) -> bool {
        self.missing().is_none()
    }

    /// Those that this processor can run, the widest last.
    pub fn available() -> impl Iterator<Item = Self> {
        Self::ALL.into_iter().filter(|isa| isa.is_available())
    }

    /// Fails if this processor cannot run it.
    ///
    /// # Errors
    /// Says why, and what it can run.
    pub fn need(self) -> Result<()> {
        let Some(reason) = self.missing() else { return Ok(()) };
        let names: Vec<_> = Self::available().map(Self::name).collect();
        Err(Error::invalid(
            format!("the {self} backend cannot run here: {reason}"),
            format!("use one of those that can: auto, {}", names.join(", ")),
        ))
    }

    #[cfg(target_arch = "x86_64")]
    fn look(self) -> Option<String> {
        /// The features that are not there.
        macro_rules! missing {
            ($($feature:tt)*) => {{
                let mut missing = Vec::new();
                $(if !std::arch::is_x86_feature_detected!($feature) { missing.push($feature); })*
                missing
            }};
        }
        let missing = match self {
            Self::Scalar => return None,
            Self::Neon => return Some("it is for 64-bit ARM processors".into()),
            Self::Avx2 => missing!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "sse4.2"),
            Self::Avx512 => {
                missing!("avx512f" "avx512bw" "avx512vl" "avx512dq" "avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "sse4.2")
            }
        };
        (!missing.is_empty()).then(|| format!("the processor has no {}", missing.join(", ")))
    }

    #[cfg(target_arch = "aarch64")]
    fn look(self) -> Option<String> {
        match self {
            Self::Scalar => None,
            Self::Neon => {
                (!std::arch::is_aarch64_feature_detected!("neon")).then(|| "the processor has no neon".into())
            }
            Self::Avx2 | Self::Avx512 => Some("it is for x86-64 processors".into()),
        }
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn look(self) -> Option<String> {
        match self {
            Self::Scalar => None,
            Self::Neon => Some("it is for 64-bit ARM processors".into()),
            Self::Avx2 | Self::Avx512 => Some("it is for x86-64 processors".into()),
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Isa {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        by_name("backend", Self::ALL, Self::name, name)
    }
}
