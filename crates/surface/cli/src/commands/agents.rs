//! `tollgate agents`: what to write where, so that a coding agent uses this service.
//!
//! The lines are in `docs/agents.json`, which the console and the documentation use too.

use console_assets::AGENT_SET_UPS;
use control::reply::ModelLine;
use serde::{Deserialize, Serialize};

use crate::args::AgentsArgs;
use crate::commands::operator::resolve_console_url;
use crate::failure::CommandError;
use crate::operator::OperationClient;
use crate::output::{TextTable, print_json, print_line, print_note, print_text};

/// The place of a step that is a command and not a file.
const SHELL: &str = "shell";
const KEY_PLACEHOLDER: &str = "SERVICE_INFERENCE_KEY_…";

/// A coding agent and the steps to set it up.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct AgentSetUp {
    id: &'static str,
    name: &'static str,
    steps: Vec<SetUpStep>,
}

/// Lines with the slots `%SITE%`, `%KEY%` and `%MODEL%`.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct SetUpStep {
    /// A file, `shell`, or a page of settings.
    into: String,
    /// The language of the lines, as code blocks in Markdown name it.
    language: String,
    lines: Vec<String>,
}

/// The values of the slots.
struct SlotValues {
    site: String,
    key: String,
    model: String,
}

pub(crate) fn list_agent_ids() -> Vec<&'static str> {
    read_set_ups().into_iter().map(|agent| agent.id).collect()
}

pub(crate) async fn run_agents_command(
    operator: &mut OperationClient<'_>,
    command: AgentsArgs,
) -> Result<(), CommandError> {
    let agents = read_set_ups();
    let Some(agent) = command.agent else {
        return list_agents(&agents, command.listing.json);
    };
    let agent = agents.into_iter().find(|it| it.id == agent);
    let agent = agent.ok_or_else(|| CommandError::Usage("unknown agent".to_owned()))?;
    let site = match command.url {
        Some(url) => url,
        None => resolve_console_url(operator).await?,
    };
    let model = choose_model(&operator.list_models().await?, command.model)?;
    let key = command.key.unwrap_or_else(|| {
        print_note("`tollgate keys create --type inference` creates a key; pass it with --key");
        KEY_PLACEHOLDER.to_owned()
    });
    let filled = fill_slots(agent, &SlotValues { site, key, model });
    if command.listing.json { print_json(&filled) } else { print_text(&render_steps(&filled)) }
}

/// Returns no agents if the embedded file is malformed, which a test excludes.
fn read_set_ups() -> Vec<AgentSetUp> {
    serde_json::from_str(AGENT_SET_UPS).unwrap_or_default()
}

fn list_agents(agents: &[AgentSetUp], is_json: bool) -> Result<(), CommandError> {
    if is_json {
        let names = agents.iter().map(|it| serde_json::json!({ "id": it.id, "name": it.name }));
        return print_json(&names.collect::<Vec<_>>());
    }
    let mut table = TextTable::new(&["AGENT", "NAME", "SET UP IN"]);
    for agent in agents {
        let places: Vec<&str> = agent.steps.iter().map(|step| step.into.as_str()).collect();
        table.push_row([agent.id.into(), agent.name.into(), places.join(", ").into()]);
    }
    table.print()?;
    print_line(
        "\n`tollgate agents AGENT --key KEY --model MODEL` prints the lines for one of them.",
    )
}

/// Returns the model to write: the one that was asked for, or the default text model.
fn choose_model(models: &[ModelLine], wanted: Option<String>) -> Result<String, CommandError> {
    let texts: Vec<&ModelLine> = models.iter().filter(|it| it.model_type == "text").collect();
    let Some(wanted) = wanted else {
        let default = texts.iter().find(|it| it.traits.iter().any(|name| name == "default"));
        let chosen = default.or(texts.first()).map(|it| it.id.clone());
        return chosen.ok_or_else(|| {
            CommandError::Failed(
                "the catalogue has no text model; add one to tollgate.toml (`tollgate init` writes \
                 an example), or name one with --model"
                    .to_owned(),
            )
        });
    };
    let other = models.iter().find(|it| it.id == wanted && it.model_type != "text");
    if let Some(other) = other {
        let message = format!("`{wanted}` is a model of type {}, not text", other.model_type);
        return Err(CommandError::Usage(message));
    }
    // An alias or a name with a feature suffix is right too, so this is no fault.
    if !texts.iter().any(|it| it.id == wanted) {
        let ids: Vec<&str> = texts.iter().map(|it| it.id.as_str()).collect();
        let known = if ids.is_empty() { "there is none".to_owned() } else { ids.join(", ") };
        print_note(&format!("`{wanted}` is not the id of a text model (ids: {known})"));
    }
    Ok(wanted)
}

fn fill_slots(mut agent: AgentSetUp, values: &SlotValues) -> AgentSetUp {
    for line in agent.steps.iter_mut().flat_map(|step| &mut step.lines) {
        *line = line
            .replace("%SITE%", &values.site)
            .replace("%KEY%", &values.key)
            .replace("%MODEL%", &values.model);
    }
    agent
}

fn render_steps(agent: &AgentSetUp) -> String {
    let steps = agent.steps.iter().map(|step| {
        let place = if step.into == SHELL { "a shell" } else { &step.into };
        format!("In {place}:\n\n{}\n", step.lines.join("\n"))
    });
    steps.collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model_line(id: &str, model_type: &str, traits: &[&str]) -> ModelLine {
        ModelLine {
            id: id.to_owned(),
            model_type: model_type.to_owned(),
            name: id.to_owned(),
            providers: Vec::new(),
            traits: traits.iter().map(|&name| name.to_owned()).collect(),
            offline: false,
            weights: None,
        }
    }

    fn values_of_the_page() -> SlotValues {
        SlotValues {
            site: "http://127.0.0.1:8080".to_owned(),
            key: KEY_PLACEHOLDER.to_owned(),
            model: "house-model".to_owned(),
        }
    }

    #[test]
    fn the_documentation_shows_exactly_what_the_command_prints() {
        let page = console_assets::PAGES.iter().find(|page| page.slug == "agents").unwrap();
        let agents: Vec<AgentSetUp> = serde_json::from_str(AGENT_SET_UPS).unwrap();
        for agent in agents {
            let heading = format!("\n## {}\n", agent.name);
            let (_, section) =
                page.markdown.split_once(&heading).expect("a section for each agent");
            let section = section.split("\n## ").next().unwrap();
            for step in fill_slots(agent.clone(), &values_of_the_page()).steps {
                let block = format!("```{}\n{}\n```", step.language, step.lines.join("\n"));
                assert!(section.contains(&block), "{} lacks {block}", agent.id);
                let is_named = step.into == SHELL || section.contains(&format!("`{}`", step.into));
                assert!(
                    is_named || section.contains(&step.into),
                    "{} lacks {}",
                    agent.id,
                    step.into
                );
            }
        }
    }

    #[test]
    fn every_slot_is_filled_and_every_agent_gets_site_key_and_model() {
        for agent in read_set_ups() {
            let filled = render_steps(&fill_slots(agent.clone(), &values_of_the_page()));
            assert!(!filled.contains('%'), "{filled}");
            for value in ["http://127.0.0.1:8080", KEY_PLACEHOLDER, "house-model"] {
                assert!(filled.contains(value), "{} lacks {value}", agent.id);
            }
        }
    }

    #[test]
    fn the_default_text_model_is_chosen_unless_one_is_named() {
        let models = [
            model_line("speech", "tts", &["default"]),
            model_line("first", "text", &[]),
            model_line("second", "text", &["default"]),
        ];
        assert_eq!(choose_model(&models, None).unwrap(), "second");
        assert_eq!(choose_model(&models[..2], None).unwrap(), "first");
        assert_eq!(choose_model(&models, Some("an-alias".to_owned())).unwrap(), "an-alias");
        let refused = choose_model(&models, Some("speech".to_owned())).unwrap_err();
        assert!(refused.to_string().contains("type tts"), "{refused}");
        assert!(choose_model(&models[..1], None).unwrap_err().to_string().contains("--model"));
    }
}
