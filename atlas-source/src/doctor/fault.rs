//! What can be wrong with a patch.

use serde::Serialize;
use std::fmt;

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $word:literal,)+) => {
        /// What is wrong with a patch, or noteworthy in it. In JSON a word in snake case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(rename_all = "snake_case")]
        #[non_exhaustive]
        pub enum PatchFaultKind { $($(#[doc = $doc])+ $name,)+ }

        impl PatchFaultKind {
            /// Every kind.
            pub const ALL: &'static [Self] = &[$(Self::$name),+];

            /// The word that JSON has.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $word,)+ }
            }
        }
    };
}

kinds! {
    /// No bytes at all.
    Empty = "empty",
    /// White space and nothing else.
    WhitespaceOnly = "whitespace_only",
    /// Text without any part of a patch.
    NoPatch = "no_patch",
    /// A byte order mark at the start.
    ByteOrderMark = "byte_order_mark",
    /// Text in UTF-16.
    Utf16 = "utf16",
    /// Bytes that are no UTF-8.
    InvalidUtf8 = "invalid_utf8",
    /// Zero bytes.
    NulBytes = "nul_bytes",
    /// Every line ends with CR LF.
    CrlfEverywhere = "crlf_everywhere",
    /// Some lines end with CR LF.
    CrlfInPlaces = "crlf_in_places",
    /// Header lines end with CR LF.
    CrInHeaders = "cr_in_headers",
    /// A carriage return inside a line, or instead of line ends.
    LoneCr = "lone_cr",
    /// The last line has no end.
    NoFinalNewline = "no_final_newline",
    /// Colour codes of a terminal.
    AnsiColours = "ansi_colours",
    /// Characters that look like a space or like nothing.
    OddSpaces = "odd_spaces",
    /// A fence of Markdown around it.
    MarkdownFence = "markdown_fence",
    /// Tags around it.
    Tags = "tags",
    /// Text before the patch.
    ProseBefore = "prose_before",
    /// Text behind the patch.
    ProseAfter = "prose_after",
    /// Text between two parts of the patch.
    ProseBetween = "prose_between",
    /// The message of a program instead of, or before, a patch.
    ProgramMessage = "program_message",
    /// `*** Begin Patch`: the format of the `apply_patch` tool.
    ApplyPatchFormat = "apply_patch_format",
    /// Search-and-replace blocks.
    SearchReplace = "search_replace",
    /// A context diff, with `***` and `---` ranges.
    ContextDiff = "context_diff",
    /// A diff without context, as `diff` prints it by default, or an `ed` script.
    NormalDiff = "normal_diff",
    /// A combined diff of a merge.
    CombinedDiff = "combined_diff",
    /// Text escaped as in JSON: `\n` for line ends.
    JsonEscaped = "json_escaped",
    /// Text escaped as in HTML: `&lt;` for `<`.
    HtmlEscaped = "html_escaped",
    /// All of it is indented.
    Indented = "indented",
    /// All of it is quoted with `> `.
    Quoted = "quoted",
    /// Lines begin with their numbers.
    LineNumbers = "line_numbers",
    /// A hunk without file headers.
    NoFileHeader = "no_file_header",
    /// `---` without `+++`, or the other way round.
    HalfFileHeader = "half_file_header",
    /// `diff --git` with hunks, but without `---` and `+++`.
    NoNameLines = "no_name_lines",
    /// Headers that name different files.
    HeadersDisagree = "headers_disagree",
    /// A new or removed file that its headers do not declare.
    UndeclaredCreation = "undeclared_creation",
    /// No `diff --git` line. Git needs none.
    NoDiffGit = "no_diff_git",
    /// A section that changes nothing.
    EmptySection = "empty_section",
    /// Paths without `a/` and `b/`.
    NoPathPrefix = "no_path_prefix",
    /// A path from the root of a machine.
    AbsolutePath = "absolute_path",
    /// A path with `..`.
    ParentPath = "parent_path",
    /// A path in `.git`.
    GitFolder = "git_folder",
    /// One file in several sections.
    DuplicateSection = "duplicate_section",
    /// A hunk header that is not `@@ -a,b +c,d @@`.
    HunkHeader = "hunk_header",
    /// A hunk whose lines are not as many as its header says.
    HunkCounts = "hunk_counts",
    /// The last hunk ends too early.
    Truncated = "truncated",
    /// Lines left out with `...` or a remark.
    Placeholder = "placeholder",
    /// A hunk's line without its column.
    ColumnLost = "column_lost",
    /// Blank context lines without their space. Git takes them.
    BlankContext = "blank_context",
    /// A hunk that changes nothing.
    NoChange = "no_change",
    /// A hunk without context lines.
    NoContext = "no_context",
    /// Hunks that overlap or stand in the wrong order.
    HunkOrder = "hunk_order",
    /// `\ No newline at end of file` in a place where no file ends.
    NoNewlineMarker = "no_newline_marker",
    /// Markers of a merge conflict in added lines.
    ConflictMarkers = "conflict_markers",
    /// A binary file without its content.
    BinaryWithoutData = "binary_without_data",
    /// Binary content that cannot be read.
    BinaryBroken = "binary_broken",
    /// A symbolic link is made or changed.
    Symlink = "symlink",
    /// A symbolic link that leads out of the repository.
    SymlinkOutside = "symlink_outside",
    /// A submodule is moved.
    Submodule = "submodule",
    /// The mode of a file changes.
    ModeChange = "mode_change",
    /// A file moves and stays as it is.
    RenameOnly = "rename_only",
    /// A patch inside the patch.
    NestedPatch = "nested_patch",
    /// The signature of a mail, `-- ` and a version.
    MailSignature = "mail_signature",
    /// Files that builds and tools make.
    BuildOutput = "build_output",
    /// The file that is changed does not exist.
    FileMissing = "file_missing",
    /// The file that is made exists.
    FileExists = "file_exists",
    /// The tree has this change already.
    AlreadyApplied = "already_applied",
    /// The patch fits another commit.
    OtherBase = "other_base",
    /// The file's lines differ from the context only in white space.
    WhitespaceDiffers = "whitespace_differs",
    /// The file's lines differ from the context only in their ends.
    LineEndsDiffer = "line_ends_differ",
    /// The file has tabs where the context has spaces, or the other way round.
    TabsDiffer = "tabs_differ",
    /// The context is at another place of the file.
    ContextElsewhere = "context_elsewhere",
    /// The context is at several places of the file and at none that is named.
    ContextAmbiguous = "context_ambiguous",
    /// The file has other lines.
    ContextDiffers = "context_differs",
    /// A part of the path is a symbolic link.
    IsSymlink = "is_symlink",
    /// A part of the path is a submodule.
    IsSubmodule = "is_submodule",
    /// The path is a folder.
    IsFolder = "is_folder",
    /// Git ignores the path.
    IsIgnored = "is_ignored",
    /// The binary content is made for another version of the file.
    BinaryBaseDiffers = "binary_base_differs",
    /// The file has another mode than the patch says.
    ModeDiffers = "mode_differs",
}

impl fmt::Display for PatchFaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing that is wrong with a patch, or noteworthy in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PatchFault {
    /// What it is.
    pub kind: PatchFaultKind,
    /// The line of the patch, from 1, where one can be named.
    pub line: Option<u32>,
    /// The file, from the repository's root, where one can be named.
    pub file: Option<String>,
    /// What was found.
    pub message: String,
    /// What would mend it.
    pub way_out: String,
    /// Whether `git apply` refuses the patch, or leaves part of it out, for this reason alone.
    pub breaks: bool,
}

impl PatchFault {
    /// A fault of the whole patch that breaks nothing by itself.
    pub(super) fn new(
        kind: PatchFaultKind,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            line: None,
            file: None,
            message: message.into(),
            way_out: way_out.into(),
            breaks: false,
        }
    }

    pub(super) fn breaking(mut self) -> Self {
        self.breaks = true;
        self
    }

    /// The same with a place, counted from 0.
    pub(super) fn at(mut self, place: usize) -> Self {
        self.line = u32::try_from(place)
            .ok()
            .and_then(|place| place.checked_add(1));
        self
    }

    pub(super) fn of(mut self, file: Option<String>) -> Self {
        self.file = file;
        self
    }
}

impl fmt::Display for PatchFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.line, &self.file) {
            (Some(line), Some(file)) => write!(f, "line {line}, {file}: ")?,
            (Some(line), None) => write!(f, "line {line}: ")?,
            (None, Some(file)) => write!(f, "{file}: ")?,
            (None, None) => {}
        }
        write!(f, "{} ({})", self.message, self.way_out)
    }
}
