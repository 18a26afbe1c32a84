// Package desk runs every command that the documentation shows of kyklos, and holds what it prints against what is shown.
//
// On a page (README.md, docs/*.md) it runs each block of ```console in which a command is kyklos, at the
// beginning or behind a pipe: all its lines that begin with "$ ", in their order, each by a shell, in
// a copy of the project's config, docs and test/docs/testdata that is the block's own and a Git repository
// on the branch main, with bin first in PATH. So a block can change files. A line that ends with a
// backslash goes on in the next one, and a here-document to its end. What is shown behind a command is what it prints, to stdout and
// stderr together, to the byte; "..." alone on a line stands for any lines, also for none. A command exits with
// 0, unless the next one is "$ echo $?", with the code below it.
//
// Of each command's help, which docs/cli has, it runs the examples: every line in which a command is kyklos. They exit with 0, unless
// the comment above says otherwise, as in "# exit 1: a mistake". What they print is not compared.
//
// A block below the line <!-- needs a cluster -->, and an example below a comment with the word cluster, runs
// against an API server with Kyklos, in the namespace desk, which has config/samples/office-hours.yaml (test/docs runs these). One
// below <!-- not run: why --> does not run.
package desk
