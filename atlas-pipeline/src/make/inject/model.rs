//! Failures for tests that no rule can rewrite, proposed by a model and checked by the syntax tree.

use atlas_core::{
    ChatMessage, CompletionRequest, Error, FinishReason, LanguageModel, Role, RunContext,
};
use atlas_syntax::{Language, SkippedTest, rewrite_test, text_of_test};
use serde::{Deserialize, Serialize};
use serde_json::json;

const PROMPT: &str = include_str!("prompts/inject.v1.md");
/// Name and version of the instructions.
pub(crate) const VERSION: &str = "inject.v1";
/// Most corrections of one test, as for everything that a model makes.
const CORRECTIONS: u32 = 5;
/// Most tokens of an answer, and bytes of a test that is asked about.
const TOKENS: u32 = 4096;
const MOST: usize = 12_000;

/// One answer of the model, and what was wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct InjectAttempt {
    /// The file.
    pub file: String,
    /// The test.
    pub test: String,
    /// 0 for the first answer, then the number of the correction.
    pub correction: u32,
    /// The model, as it names itself.
    pub model: String,
    /// Name and version of the instructions.
    pub prompt: String,
    /// The failing statement that it proposes.
    pub statement: String,
    /// Why it does not do; absent for the one that was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// The source with that test rewritten by the model; none if every answer was refused.
///
/// # Errors
/// The model or its budget fails; cancellation.
pub(crate) async fn propose(
    cx: &RunContext,
    model: &dyn LanguageModel,
    (file, language): (&str, Language),
    source: &[u8],
    test: &SkippedTest,
    attempts: &mut Vec<InjectAttempt>,
) -> Result<Option<Vec<u8>>, Error> {
    #[derive(Default, Deserialize)]
    struct Answer {
        test: String,
        statement: String,
    }
    let own = String::from_utf8_lossy(text_of_test(source, test)).into_owned();
    if own.len() > MOST {
        return Ok(None);
    }
    let message = |role, content: String| ChatMessage { role, content };
    let question = format!(
        "File `{file}` ({language:?}), test `{}`. A rule could not rewrite it: it {}.\n---\n{own}\n---\n",
        test.name, test.why
    );
    let mut messages = vec![
        message(Role::System, PROMPT.to_owned()),
        message(Role::User, question),
    ];
    for correction in 0..=CORRECTIONS {
        cx.check("propose a failure")?;
        let request = CompletionRequest {
            messages: messages.clone(),
            max_tokens: TOKENS,
            temperature: 0.0,
            seed: Some(0),
            top_logprobs: None,
            json_schema: Some(json!({
                "type": "object",
                "properties": {"test": {"type": "string"}, "statement": {"type": "string"}},
                "required": ["test", "statement"],
                "additionalProperties": false,
            })),
        };
        let completion = model.complete(cx, &request).await?;
        let said = completion.text.as_str();
        let object = match (said.find('{'), said.rfind('}')) {
            (Some(from), Some(to)) if from < to => &said[from..=to],
            _ => said,
        };
        let (answer, made) = match serde_json::from_str::<Answer>(object) {
            _ if completion.finish == FinishReason::Length => (
                Answer::default(),
                Err("the answer was cut off at its token limit".to_owned()),
            ),
            Ok(answer) => {
                let made = rewrite_test(language, source, test, &answer.test, &answer.statement);
                (answer, made)
            }
            Err(why) => (
                Answer::default(),
                Err(format!(
                    "the answer is not the JSON object that is asked for: {why}"
                )),
            ),
        };
        attempts.push(InjectAttempt {
            file: file.to_owned(),
            test: test.name.clone(),
            correction,
            model: completion.model.clone(),
            prompt: VERSION.to_owned(),
            statement: answer.statement,
            problem: made.as_ref().err().cloned(),
        });
        match made {
            Ok(source) => return Ok(Some(source)),
            Err(problem) => {
                messages.truncate(2);
                messages.push(message(Role::Assistant, completion.text));
                let wrong =
                    format!("This does not do: {problem}. Answer again with the whole object.");
                messages.push(message(Role::User, wrong));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use atlas_llm::{Rule, Scripted};
    use atlas_syntax::inject_failures;
    use serde_json::Value;

    /// Asks about the one test that rules leave; the answers, in their order.
    async fn ask(
        file: &str,
        source: &str,
        answers: &[Value],
    ) -> (Option<String>, Vec<InjectAttempt>) {
        let language = Language::of_path(file).unwrap();
        let left = inject_failures(language, source.as_bytes(), None).skipped;
        let test = left.iter().find(|test| test.could_fail).unwrap();
        let rules = answers
            .iter()
            .map(|answer| Rule::text("", answer.to_string()));
        let model = Scripted::new(rules);
        let mut attempts = Vec::new();
        let cx = RunContext::new("inject");
        let place = (file, language);
        let made = propose(&cx, &model, place, source.as_bytes(), test, &mut attempts)
            .await
            .unwrap();
        (made.map(|made| String::from_utf8(made).unwrap()), attempts)
    }

    fn problems(attempts: &[InjectAttempt]) -> Vec<&str> {
        let problems = attempts.iter().map(|one| one.problem.as_deref());
        problems.map(Option::unwrap_or_default).collect()
    }

    #[tokio::test]
    async fn a_test_of_go_without_its_testing_t() {
        let source = "package a\n\nimport \"testing\"\n\nfunc TestA(_ *testing.T) {\n\tif one() != 1 {\n\t\tpanic(\"one\")\n\t}\n}\n";
        let answer = |head: &str, more: &str| {
            json!({
                "test": format!("func {head} {{\n\tpanic(\"injected\")\n}}\n{more}"),
                "statement": "panic(\"injected\")",
            })
        };
        let (made, attempts) = ask(
            "a_test.go",
            source,
            &[
                answer("TestA(t *testing.T)", ""),
                answer("TestA(_ *testing.T)", "\nfunc TestB(_ *testing.T) {\n}\n"),
                answer("TestA(_ *testing.T)", "\nvar hidden = 1\n"),
                answer("TestA(_ *testing.T)", ""),
            ],
        )
        .await;
        assert!(made.unwrap().contains("{\n\tpanic(\"injected\")\n}\n"));
        let problems = problems(&attempts);
        assert!(problems[0].contains("head"), "{problems:?}");
        assert!(
            problems[1].contains("tests of the file are others"),
            "{problems:?}"
        );
        assert!(problems[2].contains("around the test"), "{problems:?}");
        assert_eq!(problems[3], "");
    }

    #[tokio::test]
    async fn a_test_of_c_whose_assertions_nobody_knows() {
        let source = "static int test_sum(void) {\n    return sum(1, 1) == 2;\n}\n";
        let answer = |body: &str, statement: &str| json!({"test": format!("static int test_sum(void) {{\n{body}}}\n"), "statement": statement});
        let refused = [
            answer(
                "    /* return 0; */\n    return sum(1, 1) == 2;\n",
                "return 0;",
            ),
            answer("    return sum(1, 1) == 2;\n", "return 0;"),
            answer("    if (1) { return 0;\n", "return 0;"),
            answer("    return sum(1, 1) == 2;\n", ""),
            answer("    puts(\"return 0;\");\n    return 1;\n", "return 0;"),
        ];
        let mut answers = refused.to_vec();
        answers.push(answer(
            "    if (1) return 0;\n    return sum(1, 1) == 2;\n",
            "if (1) return 0;",
        ));
        let (made, attempts) = ask("test_sum.c", source, &answers).await;
        assert!(made.unwrap().contains("if (1) return 0;"));
        let problems = problems(&attempts);
        for (problem, wanted) in problems.iter().zip([
            "no code",
            "does not stand",
            "no longer parses",
            "empty",
            "no code",
        ]) {
            assert!(problem.contains(wanted), "{problems:?}");
        }
        let mut six = refused.to_vec();
        six.push(refused[0].clone());
        let (none, attempts) = ask("test_sum.c", source, &six).await;
        assert_eq!((none, attempts.len()), (None, 6));
    }
}
