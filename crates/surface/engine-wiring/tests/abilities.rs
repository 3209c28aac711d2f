//! Tests each provider kind with each catalogue key: the engine accepts what a valid configuration
//! announces, and a key that the engine cannot honour is a configuration error with its line.

#![expect(clippy::unwrap_used, reason = "a broken test must stop at once")]

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use config::catalogue::provider_support::{model_types, unsupported_keys};
use config::environment::ProcessEnvironment;
use config::read::ServiceConfig;
use config::sections::provider::ProviderKind;
use config::sources::{ConfigSources, SourceInputs};
use domain::catalogue::{ModelType, NamedVariants};
use domain::entropy::EntropySource;
use engine::{MediaEngine, MediaRequest, MusicRequest, VideoRequest};
use engine_upstream::LocalProcess;
use engine_wiring::EngineEnvironment;
use http_frame::engines::{CurrentEngines, EngineSet};
use moment::{ManualClock, Timestamp};

/// A workflow with a slot for every input that a model's keys can announce.
const WORKFLOW: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/everything.json");

const KINDS: [ProviderKind; 11] = [
    ProviderKind::OpenAi,
    ProviderKind::Anthropic,
    ProviderKind::SdCpp,
    ProviderKind::A1111,
    ProviderKind::ComfyUi,
    ProviderKind::Fal,
    ProviderKind::Kokoro,
    ProviderKind::WhisperCpp,
    ProviderKind::AceStep,
    ProviderKind::Tei,
    ProviderKind::Local,
];

/// The minimal entry of each model type, without its provider.
fn least_entry(model_type: ModelType) -> &'static str {
    match model_type {
        ModelType::Text => {
            "context_tokens = 8192\nprice = { input_usd_per_million = \"1\", output_usd_per_million = \"1\" }"
        }
        ModelType::Embedding => {
            "dimensions = 8\nprice = { input_usd_per_million = \"1\", output_usd_per_million = \"1\" }"
        }
        ModelType::Image | ModelType::Upscale => "price = { per_image_usd = \"0.01\" }",
        ModelType::Inpaint => "price = { per_edit_usd = \"0.01\" }",
        ModelType::Tts => "price = { input_usd_per_million_characters = \"1\" }",
        ModelType::Rerank => "price = { per_thousand_documents_usd = \"1\" }",
        ModelType::Moderation => "price = { input_usd_per_million = \"1\" }",
        ModelType::Asr => "price = { usd_per_audio_second = \"0.0001\" }",
        ModelType::Music => "price = { per_generation_usd = \"0.01\" }",
        ModelType::Video => {
            "price = { usd_per_second = \"0.1\" }\ndurations = [\"5s\"]\naspect_ratios = [\"16:9\"]"
        }
    }
}

/// Parses a configuration with one model of one provider.
fn read(kind: ProviderKind, model_type: ModelType, lines: &str) -> Result<ServiceConfig, String> {
    static FOLDERS: AtomicUsize = AtomicUsize::new(0);
    let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
    let name = format!("abilities-{}-{number}", std::process::id());
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    let base_url = match kind {
        ProviderKind::Local => "",
        _ => "base_url = \"http://127.0.0.1:1/v1\"",
    };
    let workflow = match kind {
        ProviderKind::ComfyUi if !lines.contains("workflow") => {
            format!("workflow = \"{WORKFLOW}\"")
        }
        _ => String::new(),
    };
    let video = "starts_from = \"text-to-video\"";
    let starts_from = match model_type {
        ModelType::Video if !lines.contains("starts_from") => video,
        _ => "",
    };
    let (kind, entry) = (kind.name(), least_entry(model_type));
    let text = format!(
        "[[provider]]\nid = \"p\"\nkind = \"{kind}\"\n{base_url}\n\n[[model]]\nid = \"composer\"\n\
         type = \"{model_type}\"\nprovider = \"p\"\n{workflow}\n{starts_from}\n{entry}\n{lines}\n"
    );
    let file = folder.join("tollgate.toml");
    std::fs::write(&file, text).unwrap();
    let request = SourceInputs {
        file: Some(file),
        folder: folder.clone(),
        environment: ProcessEnvironment::default(),
        flags: Vec::new(),
    };
    let read = ConfigSources::gather(&request).read().map_err(|invalid| invalid.to_string());
    std::fs::remove_dir_all(folder).unwrap();
    read
}

struct NoEntropy;

impl EntropySource for NoEntropy {
    fn fill_bytes(&self, bytes: &mut [u8]) {
        bytes.fill(7);
    }
}

/// The engine of a minimal model of a type.
fn media_engine(kind: ProviderKind, model_type: ModelType) -> Arc<dyn MediaEngine> {
    let config = read(kind, model_type, "").unwrap();
    CurrentEngines::new(connect(&config).unwrap()).media_engine("composer").unwrap()
}

fn connect(config: &ServiceConfig) -> Result<EngineSet, String> {
    let local = LocalProcess { socket: PathBuf::from("/nowhere"), readiness: Arc::new(|_| Ok(())) };
    let clock = Arc::new(ManualClock::at(Timestamp::from_ms(0)));
    let ground = EngineEnvironment { clock, entropy: Arc::new(NoEntropy) };
    engine_wiring::connect_engines(&config.providers, &config.models, Some(&local), &ground)
}

/// A key, the lines that announce it, and the request fields that it permits.
struct AnnouncedUse<R> {
    key: &'static str,
    lines: &'static str,
    ask: fn(&mut R),
}

const fn music(
    key: &'static str,
    lines: &'static str,
    ask: fn(&mut MusicRequest),
) -> AnnouncedUse<MusicRequest> {
    AnnouncedUse { key, lines, ask }
}

const fn video(
    key: &'static str,
    lines: &'static str,
    ask: fn(&mut VideoRequest),
) -> AnnouncedUse<VideoRequest> {
    AnnouncedUse { key, lines, ask }
}

const SPEEDS: &str = "min_speed = 0.5\ndefault_speed = 1.0\nmax_speed = 2.0";
const LENGTHS: &str = "min_duration = 5\ndefault_duration = 10\nmax_duration = 20";

const MUSIC: [AnnouncedUse<MusicRequest>; 20] = [
    music("voices", "voices = [\"a\"]", |it| it.voice = Some("a".to_owned())),
    music("default_voice", "voices = [\"a\"]\ndefault_voice = \"a\"", |it| {
        it.voice = Some("a".to_owned());
    }),
    music("formats", "formats = [\"wav\"]", |it| it.format = Some("wav".to_owned())),
    music("default_format", "formats = [\"wav\", \"mp3\"]\ndefault_format = \"mp3\"", |it| {
        it.format = Some("mp3".to_owned());
    }),
    music("supports_lyrics", "supports_lyrics = true", |it| it.lyrics = Some("la".to_owned())),
    music("lyrics_required", "supports_lyrics = true\nlyrics_required = true", |it| {
        it.lyrics = Some("la".to_owned());
    }),
    music(
        "supports_lyrics_optimizer",
        "supports_lyrics = true\nsupports_lyrics_optimizer = true",
        |it| it.optimizes_lyrics = true,
    ),
    music("lyrics_character_limit", "supports_lyrics = true\nlyrics_character_limit = 9", |it| {
        it.lyrics = Some("la".to_owned());
    }),
    music("supports_force_instrumental", "supports_force_instrumental = true", |it| {
        it.is_instrumental = true;
    }),
    music("supports_loop", "supports_loop = true", |it| it.is_loop = true),
    music("supports_language_code", "supports_language_code = true", |it| {
        it.language = Some("de".to_owned());
    }),
    music("min_speed", SPEEDS, |it| it.speed = Some(0.5)),
    music("default_speed", SPEEDS, |it| it.speed = Some(1.0)),
    music("max_speed", SPEEDS, |it| it.speed = Some(2.0)),
    music("duration_options", "duration_options = [30]", |it| it.duration_s = Some(30)),
    music("min_duration", LENGTHS, |it| it.duration_s = Some(5)),
    music("max_duration", LENGTHS, |it| it.duration_s = Some(20)),
    music("default_duration", LENGTHS, |it| it.duration_s = Some(10)),
    music("prompt_character_limit", "prompt_character_limit = 9", |_| {}),
    music("min_prompt_length", "min_prompt_length = 1", |_| {}),
];

const PICTURE: &str = "data:image/png;base64,iVBORw0KGgo=";

const VIDEO: [AnnouncedUse<VideoRequest>; 14] = [
    video("starts_from", "starts_from = \"video\"", |it| it.video = Some("data:,".to_owned())),
    video("aspect_ratios", "", |it| it.aspect_ratio = Some("16:9".to_owned())),
    video("resolutions", "resolutions = [\"720p\"]", |it| it.resolution = Some("720p".to_owned())),
    video("durations", "", |it| it.duration_s = Some(5)),
    video("audio", "audio = true", |_| {}),
    video("audio_configurable", "audio = true\naudio_configurable = true", |it| {
        it.has_audio = Some(false);
    }),
    video("prompt_character_limit", "prompt_character_limit = 9", |_| {}),
    video("image_input", "image_input = true", |it| it.image = Some(PICTURE.to_owned())),
    video("audio_input", "audio_input = true", |it| it.audio = Some("data:,".to_owned())),
    video("per_reference_audio", "per_reference_audio = true", |it| {
        it.reference_audios = vec!["data:,".to_owned()];
    }),
    video("video_input", "video_input = true", |it| it.video = Some("data:,".to_owned())),
    video(
        "reference_image_min_short_side_pixels",
        "reference_image_min_short_side_pixels = 9",
        |it| it.reference_images = vec![PICTURE.to_owned()],
    ),
    video("reference_image_min_aspect_ratio", "reference_image_min_aspect_ratio = 0.4", |it| {
        it.reference_images = vec![PICTURE.to_owned()];
    }),
    video("reference_image_max_aspect_ratio", "reference_image_max_aspect_ratio = 2.5", |it| {
        it.reference_images = vec![PICTURE.to_owned()];
    }),
];

/// Asserts that each engine accepts what its configuration may announce.
fn check_uses<R: Default>(
    model_type: ModelType,
    uses: &[AnnouncedUse<R>],
    request: impl Fn(R) -> MediaRequest,
) {
    let section = format!("model of type {model_type}");
    let section = config::catalogue::SECTIONS.iter().find(|it| it.name == section).unwrap();
    for key in section.keys {
        assert!(uses.iter().any(|it| it.key == key.name), "{} is not tested", key.name);
    }
    for kind in KINDS.into_iter().filter(|kind| model_types(*kind).contains(&model_type)) {
        let engine = media_engine(kind, model_type);
        for AnnouncedUse { key, lines, ask } in uses {
            let mut asked = R::default();
            ask(&mut asked);
            let taken = engine.check(&request(asked));
            let named = format!("{} {model_type} {key}", kind.name());
            match read(kind, model_type, lines) {
                Ok(_) => assert_eq!(taken, Ok(()), "{named} is announced"),
                Err(faults) => {
                    let expected = format!("of kind `{}` cannot do `", kind.name());
                    let is_unsupported =
                        unsupported_keys(kind, model_type).iter().any(|it| lines.contains(it.key));
                    assert!(faults.contains(&expected) && is_unsupported, "{named}: {faults}");
                    assert!(faults.contains("tollgate.toml:"), "{named}: {faults}");
                }
            }
        }
    }
}

#[test]
fn music_that_is_announced_can_be_made() {
    let request =
        |request| MediaRequest::Music(MusicRequest { prompt: "calm".to_owned(), ..request });
    check_uses(ModelType::Music, &MUSIC, request);
}

#[test]
fn videos_that_are_announced_can_be_made() {
    let request = |request: VideoRequest| {
        let prompt = "a boat".to_owned();
        let aspect_ratio = request.aspect_ratio.clone().or(Some("16:9".to_owned()));
        let duration_s = request.duration_s.or(Some(5));
        MediaRequest::Video(VideoRequest { prompt, aspect_ratio, duration_s, ..request })
    };
    check_uses(ModelType::Video, &VIDEO, request);
}

#[test]
fn a_provider_runs_the_types_of_model_that_it_says_and_no_others() {
    for kind in KINDS {
        for model_type in ModelType::ALL {
            let read = read(kind, *model_type, "");
            let named = format!("{} {model_type}", kind.name());
            if model_types(kind).contains(model_type) {
                assert_eq!(read.err(), None, "{named}");
            } else {
                let faults = read.err().unwrap();
                let expected = format!(
                    "tollgate.toml:9: [[model]] \"composer\": provider `p` of \
                    kind `{}` runs no models of type {model_type}; it runs ",
                    kind.name()
                );
                assert!(faults.contains(&expected), "{named}: {faults}");
            }
        }
    }
}

#[test]
fn every_unsupported_key_is_a_fault_and_its_absence_is_not() {
    for kind in KINDS {
        for model_type in model_types(kind) {
            for announced in unsupported_keys(kind, *model_type) {
                let sections = config::catalogue::SECTIONS.iter();
                let section = format!("model of type {model_type}");
                let section = sections.clone().find(|it| it.name == section).unwrap();
                let declared = section.keys.iter().any(|key| key.name == announced.key);
                assert!(declared, "{announced:?} is a key of {model_type} models");
                let off = match announced.key {
                    "capabilities" | "voices" | "qualities" => format!("{} = []", announced.key),
                    "max_style_references" => "max_style_references = 0".to_owned(),
                    key if key.starts_with("supports_") => format!("{key} = false"),
                    _ => continue,
                };
                let read = read(kind, *model_type, &off);
                assert_eq!(read.err(), None, "{} {model_type} {off}", kind.name());
            }
        }
    }
}

#[test]
fn announcements_of_models_that_answer_at_once_are_held_against_their_provider() {
    let cases = [
        (ProviderKind::Anthropic, ModelType::Text, "capabilities = [\"logprobs\"]"),
        (ProviderKind::SdCpp, ModelType::Image, "qualities = [\"low\"]"),
        (ProviderKind::A1111, ModelType::Image, "web_search = true"),
        (ProviderKind::OpenAi, ModelType::Image, "max_style_references = 1"),
        (ProviderKind::A1111, ModelType::Inpaint, "combine_images = true"),
        (ProviderKind::Local, ModelType::Tts, "supports_prompt = true"),
        (ProviderKind::Kokoro, ModelType::Tts, "voice_cloning = { mode = \"zero_shot\" }"),
    ];
    for (kind, model_type, line) in cases {
        let faults = read(kind, model_type, line).unwrap_err();
        assert!(faults.contains("cannot do `"), "{line}: {faults}");
        let other = match model_type {
            ModelType::Inpaint => ProviderKind::SdCpp,
            ModelType::Image if line.contains("style") => ProviderKind::ComfyUi,
            _ => ProviderKind::OpenAi,
        };
        assert_eq!(read(other, model_type, line).err(), None, "{line}");
    }
}

#[test]
fn capabilities_that_the_responses_api_lacks_are_faults_of_a_provider_that_uses_it() {
    let text = |api: &str, capability: &str| {
        let provider = format!(
            "[[provider]]\nid = \"r\"\nkind = \"openai\"\nbase_url = \"http://127.0.0.1:1/v1\"\n\
             api = \"{api}\"\n"
        );
        let lines = format!(
            "capabilities = [\"{capability}\"]\nalso = [{{ provider = \"r\" }}]\n{provider}"
        );
        read(ProviderKind::OpenAi, ModelType::Text, &lines).map(|_| ())
    };
    for capability in ["audio_input", "video_input", "e2ee", "tee_attestation"] {
        let faults = text("responses", capability).unwrap_err();
        let expected = format!(
            "provider `r` of kind `openai` with `api = \"responses\"` cannot do `capabilities` \
             \"{capability}\""
        );
        assert!(faults.contains(&expected), "{faults}");
        assert_eq!(text("chat", capability), Ok(()));
    }
    assert_eq!(text("responses", "reasoning"), Ok(()));
}

#[test]
fn a_slot_that_no_request_fills_is_told_at_the_start_with_its_lines() {
    let name = format!("abilities-{}.json", std::process::id());
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    let node =
        |inputs: &str| format!("{{\"1\": {{\"class_type\": \"A\",\n\"inputs\": {{{inputs}}}}}}}");
    let told = |model_type: ModelType, inputs: &str, lines: &str| {
        std::fs::write(&file, node(inputs)).unwrap();
        let lines = format!("workflow = \"{}\"\n{lines}", file.display());
        let config = read(ProviderKind::ComfyUi, model_type, &lines).unwrap();
        connect(&config).err().unwrap_or_default()
    };
    let prompt = "\"a\": \"{{prompt}}\"";
    assert_eq!(told(ModelType::Image, prompt, ""), "");
    let unfilled = format!("{prompt},\n\"b\": \"{{{{duration_seconds}}}}\"");
    let fault = told(ModelType::Image, &unfilled, "");
    assert!(fault.contains("tollgate.toml:") && fault.contains(".json:3: "), "{fault}");
    assert!(fault.contains("no request for this model fills the slot {{duration_seconds}}"));
    let with_default = unfilled.replace("seconds}}", "seconds|5}}");
    assert_eq!(told(ModelType::Image, &with_default, ""), "");
    let fault = told(ModelType::Video, prompt, "image_input = true");
    assert!(fault.contains("needs the slot {{image}}, which the workflow lacks"), "{fault}");
    std::fs::remove_file(&file).unwrap();
}
