//! Reads and checks ComfyUI workflows at startup.

use domain::catalogue::{CatalogueModel, ModelSpec, VideoKind, WorkflowFile};
use engine_upstream::{ComfyWorkflow, WorkflowSlot};

/// Reads a model's workflow. Errors name the line in the configuration and in the workflow file.
pub(crate) fn read_workflow(model: &CatalogueModel) -> Result<Option<ComfyWorkflow>, String> {
    let Some(WorkflowFile { path, named_at }) = &model.workflow else { return Ok(None) };
    let wrong = |line: Option<usize>, cause: String| {
        let line = line.map(|line| format!(":{line}")).unwrap_or_default();
        format!("{named_at}: model {}: workflow {}{line}: {cause}", model.id, path.display())
    };
    let text = std::fs::read_to_string(path).map_err(|error| wrong(None, error.to_string()))?;
    let workflow = ComfyWorkflow::parse(&text).map_err(|fault| wrong(None, fault.to_string()))?;
    let needed = match &model.spec {
        ModelSpec::Image(_) | ModelSpec::Music(_) | ModelSpec::Video(_) => WorkflowSlot::Prompt,
        _ => WorkflowSlot::Image,
    };
    if !workflow.has_slot(needed) {
        return Err(wrong(None, format!("it needs the slot {{{{{}}}}}", needed.name())));
    }
    let fillable = fillable_slots(&model.spec);
    if let Some(slot) = workflow.required_slots().find(|slot| !fillable.contains(slot)) {
        let name = slot.name();
        let cause = format!(
            "no request for this model fills the slot {{{{{name}}}}}; give it a default, as in \
             {{{{{name}|1}}}}, or take it out"
        );
        return Err(wrong(line_of(&text, slot), cause));
    }
    if let Some(slot) =
        announced_slots(&model.spec).into_iter().find(|slot| !workflow.has_slot(*slot))
    {
        let cause = format!(
            "the model declares a feature that needs the slot {{{{{}}}}}, which the workflow lacks",
            slot.name()
        );
        return Err(wrong(None, cause));
    }
    Ok(Some(workflow))
}

/// The slots that a request for this kind of model can fill.
fn fillable_slots(spec: &ModelSpec) -> Vec<WorkflowSlot> {
    let always = [WorkflowSlot::Prompt, WorkflowSlot::NegativePrompt, WorkflowSlot::Seed];
    let size = [WorkflowSlot::Width, WorkflowSlot::Height];
    let further: &[WorkflowSlot] = match spec {
        ModelSpec::Image(image) if image.style_references.is_some() => &[
            WorkflowSlot::Steps,
            WorkflowSlot::CfgScale,
            WorkflowSlot::LoraStrength,
            WorkflowSlot::StyleImage,
            WorkflowSlot::StyleStrength,
        ],
        ModelSpec::Image(_) => {
            &[WorkflowSlot::Steps, WorkflowSlot::CfgScale, WorkflowSlot::LoraStrength]
        }
        ModelSpec::Inpaint(_) => {
            &[WorkflowSlot::Image, WorkflowSlot::Image2, WorkflowSlot::Image3, WorkflowSlot::Mask]
        }
        ModelSpec::Upscale(_) => {
            return vec![
                WorkflowSlot::Image,
                WorkflowSlot::Scale,
                WorkflowSlot::Width,
                WorkflowSlot::Height,
                WorkflowSlot::Prompt,
                WorkflowSlot::Creativity,
            ];
        }
        ModelSpec::Music(_) => {
            return [always.as_slice(), &[WorkflowSlot::DurationSeconds, WorkflowSlot::Lyrics]]
                .concat();
        }
        ModelSpec::Video(_) => &[
            WorkflowSlot::DurationSeconds,
            WorkflowSlot::Frames16,
            WorkflowSlot::Frames24,
            WorkflowSlot::Image,
            WorkflowSlot::EndImage,
        ],
        _ => &[],
    };
    [always.as_slice(), &size, further].concat()
}

/// The slots that a workflow needs for the inputs that the model's entry announces.
fn announced_slots(spec: &ModelSpec) -> Vec<WorkflowSlot> {
    match spec {
        ModelSpec::Image(image) if image.style_references.is_some() => {
            vec![WorkflowSlot::StyleImage]
        }
        ModelSpec::Music(music)
            if music.lyrics != domain::catalogue::LyricsSupport::Unsupported =>
        {
            vec![WorkflowSlot::Lyrics]
        }
        ModelSpec::Video(video) if video.kind == VideoKind::ImageToVideo || video.image_input => {
            vec![WorkflowSlot::Image]
        }
        _ => Vec::new(),
    }
}

/// The first line of the file that contains a slot.
fn line_of(text: &str, slot: WorkflowSlot) -> Option<usize> {
    let stands = |line: &str| {
        let mut inner = line.split("{{").skip(1).filter_map(|rest| rest.split_once("}}"));
        inner.any(|(inner, _)| inner.split('|').next().map(str::trim) == Some(slot.name()))
    };
    text.lines().position(stands).map(|position| position + 1)
}
