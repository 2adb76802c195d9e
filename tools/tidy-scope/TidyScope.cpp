//===- TidyScope.cpp - Keeps clang-tidy to the project's own code ---------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A plugin that script/tidy loads. Several checks visit the whole syntax tree,
// or ask for a node's parent, for which the whole tree is visited once. Reading
// all of a precompiled header for that takes longer than compiling it. So they
// are shown the declarations of the source and of the project's headers alone,
// as clangd shows its checks those of the main file.
//
//===----------------------------------------------------------------------===//

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendPluginRegistry.h"
#include <memory>
#include <string>
#include <vector>

namespace {
class TidyScope : public clang::ASTConsumer {
public:
  bool HandleTopLevelDecl(clang::DeclGroupRef group) override {
    for (clang::Decl *decl : group) {
      // An instance is visited through its template.
      auto *function = llvm::dyn_cast<clang::FunctionDecl>(decl);
      if (function && function->isTemplateInstantiation())
        continue;
      if (!decl->getASTContext().getSourceManager().isInSystemHeader(
              decl->getLocation()))
        decls.push_back(decl);
    }
    return true;
  }

  // A precompiled header's declarations, if it must be compiled, are none of
  // the source's.
  void HandleInterestingDecl(clang::DeclGroupRef) override {}

  void HandleTranslationUnit(clang::ASTContext &context) override {
    context.setTraversalScope(decls);
  }

private:
  std::vector<clang::Decl *> decls;
};

/// Runs before the consumers of clang-tidy's checks.
class TidyScopeAction : public clang::PluginASTAction {
  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override {
    return std::make_unique<TidyScope>();
  }

  bool ParseArgs(const clang::CompilerInstance &,
                 const std::vector<std::string> &) override {
    return true;
  }

  ActionType getActionType() override { return AddBeforeMainAction; }
};
} // namespace

static const clang::FrontendPluginRegistry::Add<TidyScopeAction>
    registration("tidy-scope", "show checks the project's declarations alone");
