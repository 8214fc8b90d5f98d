// SPDX-License-Identifier: Apache-2.0
// A precompiled header needs a source file of its target; this one is never linked or run.
int main() { return 0; }
