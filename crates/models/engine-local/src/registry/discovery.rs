//! Finds the available models: downloaded entries of the manifest, and any GGUF file.

use std::path::{Path, PathBuf};

use weights::{ModelUnavailable, embedded_manifest, gguf};

use crate::refusal::EngineRefusal;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum ModelKind {
    Text,
    Embedding,
    Transcription,
    Speech,
    Image,
    Video,
    Edit,
    Upscale,
    CutOut,
    Erase,
    Safety,
}

/// The manifest id whose weights also make videos and edits.
const PAINTER: &str = "pictor-icons";

/// A model on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct FoundModel {
    pub(crate) id: String,
    pub(crate) kind: ModelKind,
    /// The GGUF file of a text model; otherwise the model's folder.
    pub(crate) path: PathBuf,
}

impl FoundModel {
    /// Replaces video and edit models by the image model, which is loaded once for all of them.
    pub(crate) fn into_loadable(self) -> FoundModel {
        match self.kind {
            ModelKind::Video | ModelKind::Edit => {
                FoundModel { id: PAINTER.to_owned(), kind: ModelKind::Image, ..self }
            }
            _ => self,
        }
    }
}

impl ModelKind {
    /// The name of the kind in the catalogue.
    pub(crate) fn catalogue_name(self) -> &'static str {
        match self {
            ModelKind::Text => "text",
            ModelKind::Embedding => "embedding",
            ModelKind::Transcription => "asr",
            ModelKind::Speech => "tts",
            ModelKind::Image => "image",
            ModelKind::Video => "video",
            ModelKind::Edit => "picture edits",
            ModelKind::Upscale => "upscale",
            ModelKind::CutOut => "background removal",
            ModelKind::Erase => "inpaint",
            ModelKind::Safety => "safety",
        }
    }

    fn from_entry_kind(kind: weights::EntryKind) -> Option<ModelKind> {
        match kind {
            weights::EntryKind::Text => Some(ModelKind::Text),
            weights::EntryKind::Embedding => Some(ModelKind::Embedding),
            weights::EntryKind::Transcription => Some(ModelKind::Transcription),
            weights::EntryKind::Speech => Some(ModelKind::Speech),
            weights::EntryKind::Image => Some(ModelKind::Image),
            weights::EntryKind::Video => Some(ModelKind::Video),
            weights::EntryKind::Edit => Some(ModelKind::Edit),
            weights::EntryKind::Upscale => Some(ModelKind::Upscale),
            weights::EntryKind::CutOut => Some(ModelKind::CutOut),
            weights::EntryKind::Erase => Some(ModelKind::Erase),
            weights::EntryKind::Safety => Some(ModelKind::Safety),
            weights::EntryKind::Library => None,
        }
    }
}

/// Finds a model by manifest id, by the stem of a GGUF file in the folder, or by the path of one.
pub(crate) fn find_model(models_dir: &Path, id: &str) -> Result<FoundModel, EngineRefusal> {
    if let Some(gguf) = gguf_in(models_dir, id).or_else(|| gguf_at(id)) {
        return Ok(FoundModel { id: id.to_owned(), kind: ModelKind::Text, path: gguf });
    }
    let unknown = || {
        let folder = models_dir.display();
        EngineRefusal::unknown_model(format!("There is no model {id} in {folder}."))
    };
    let model = embedded_manifest().find_model(id).ok_or_else(unknown)?;
    let kind = ModelKind::from_entry_kind(model.kind).ok_or_else(unknown)?;
    let folder =
        weights::find_installed_model(models_dir, id).map_err(|missing| match missing {
            ModelUnavailable::Unknown { .. } => unknown(),
            other => EngineRefusal::unavailable("model_not_fetched", other.to_string()),
        })?;
    let gguf = model.files.iter().find(|file| file.name.ends_with(".gguf"));
    let path = match gguf {
        Some(file) if kind == ModelKind::Text => folder.join(&file.name),
        _ => folder,
    };
    Ok(FoundModel { id: id.to_owned(), kind, path })
}

/// All models that can be loaded now.
pub(crate) fn list_models(models_dir: &Path) -> Vec<(String, ModelKind)> {
    let fetched = embedded_manifest()
        .models()
        .filter(|it| weights::find_installed_model(models_dir, &it.id).is_ok());
    let mut models: Vec<(String, ModelKind)> = fetched
        .filter_map(|it| Some((it.id.clone(), ModelKind::from_entry_kind(it.kind)?)))
        .collect();
    let files = std::fs::read_dir(models_dir).into_iter().flatten().flatten();
    let stems = files.filter_map(|file| stem_of_gguf(&file.path()));
    models.extend(stems.map(|stem| (stem, ModelKind::Text)));
    models
}

fn gguf_in(models_dir: &Path, id: &str) -> Option<PathBuf> {
    // An id with path separators could leave the directory.
    let is_plain = !id.is_empty() && !id.contains(['/', '\\', '\0']);
    let path = models_dir.join(format!("{id}.{}", gguf::EXTENSION));
    (is_plain && path.is_file()).then_some(path)
}

fn gguf_at(id: &str) -> Option<PathBuf> {
    let path = Path::new(id);
    let is_gguf = path.is_absolute() && stem_of_gguf(path).is_some();
    is_gguf.then(|| path.to_owned())
}

fn stem_of_gguf(path: &Path) -> Option<String> {
    let is_gguf = path.extension().is_some_and(|it| it == gguf::EXTENSION) && path.is_file();
    if !is_gguf {
        return None;
    }
    Some(path.file_stem()?.to_str()?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_the_folder_is_a_model_and_nothing_outside_is_reached_by_a_name() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("models");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("mine.gguf"), "").unwrap();
        std::fs::write(folder.join("notes.txt"), "").unwrap();
        std::fs::write(root.path().join("outside.gguf"), "").unwrap();
        assert_eq!(list_models(&folder), [("mine".to_owned(), ModelKind::Text)]);
        let found = find_model(&folder, "mine").unwrap();
        let path = folder.join("mine.gguf");
        assert_eq!(found, FoundModel { id: "mine".to_owned(), kind: ModelKind::Text, path });
        for id in ["../outside", "outside", "notes", "", "a/b", "/nowhere/x.gguf"] {
            assert!(find_model(&folder, id).is_err(), "{id}");
        }
        let outside = root.path().join("outside.gguf");
        let path = outside.to_str().unwrap();
        assert_eq!(find_model(&folder, path).unwrap().path, outside);
    }

    #[test]
    fn a_model_that_is_not_fetched_is_told_from_one_that_is_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let missing = find_model(folder.path(), "smollm2-135m").unwrap_err();
        assert_eq!(missing.body()["error"]["code"], "model_not_fetched");
        let unknown = find_model(folder.path(), "gpt-17").unwrap_err();
        assert_eq!(unknown.body()["error"]["code"], "model_not_found");
        let library = find_model(folder.path(), "onnxruntime").unwrap_err();
        assert_eq!(library.body()["error"]["code"], "model_not_found");
    }
}
