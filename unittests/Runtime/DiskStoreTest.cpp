//===- DiskStoreTest.cpp - Compiled code that outlives the process --------===//
//
// Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
// See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "MetaOps/Runtime/Cache/DiskStore.h"
#include "MetaOps/Runtime/Cache/BuildIdentity.h"
#include "llvm/Support/FileSystem.h"
#include "gtest/gtest.h"

#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace metaops;

namespace {

constexpr DiskEntryKind kernel = DiskEntryKind::Kernel;
constexpr DiskEntryKind program = DiskEntryKind::Program;

DiskKey keyOf(uint64_t number) { return DiskKeyBuilder().add(number).finish(); }

class DiskStoreTest : public ::testing::Test {
protected:
  DiskStoreTest() {
    llvm::SmallString<128> path;
    EXPECT_FALSE(llvm::sys::fs::createUniqueDirectory("metaops-store", path));
    parent = std::string(path);
    folder = parent + "/cache";
  }
  ~DiskStoreTest() override {
    chmod(folder.c_str(), 0700);
    (void)llvm::sys::fs::remove_directories(parent);
  }

  std::string fileOf(DiskEntryKind kind, const DiskKey &key) const {
    return folder + (kind == kernel ? "/kernel-" : "/program-") + toHex(key);
  }
  static std::string read(const std::string &path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  static void write(const std::string &path, const std::string &text) {
    std::ofstream(path, std::ios::binary) << text;
    // Whatever this process leaves to others.
    chmod(path.c_str(), 0600);
  }
  static std::string load(DiskStore &store, DiskEntryKind kind,
                          const DiskKey &key) {
    auto payload = store.load(kind, key);
    return payload ? payload->getBuffer().str() : "a miss";
  }
  static void setAge(const std::string &path, int64_t seconds) {
    timespec time = {::time(nullptr) - seconds, 0};
    const timespec times[2] = {time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, 0), 0);
  }
  /// What `check` says in a process of its own.
  static bool isTrueInChild(llvm::function_ref<bool()> check) {
    pid_t child = fork();
    if (child == 0)
      _exit(check() ? 0 : 1);
    int status = 1;
    waitpid(child, &status, 0);
    return status == 0;
  }
  static bool exists(const std::string &path) {
    struct stat status;
    return lstat(path.c_str(), &status) == 0;
  }
  static mode_t modeOf(const std::string &path) {
    struct stat status = {};
    stat(path.c_str(), &status);
    return status.st_mode & 0777;
  }

  std::string parent, folder;
};

TEST_F(DiskStoreTest, AnotherStoreFindsWhatOneHasWritten) {
  DiskStore one(folder), other(folder);
  one.store(kernel, keyOf(1), "object");
  one.store(program, keyOf(1), std::string("plan\0more", 9));
  EXPECT_EQ(load(other, kernel, keyOf(1)), "object");
  EXPECT_EQ(load(other, program, keyOf(1)), std::string("plan\0more", 9));
  EXPECT_EQ(load(other, kernel, keyOf(2)), "a miss");
  DiskStoreStatistics written = one.getStatistics();
  EXPECT_EQ(written.writes, 2);
  EXPECT_EQ(written.bytesWritten, 15);
  DiskStoreStatistics loaded = other.getStatistics();
  EXPECT_EQ(loaded.hits, 2);
  EXPECT_EQ(loaded.misses, 1);
  EXPECT_EQ(loaded.rejected, 0);
  EXPECT_EQ(loaded.bytesRead, 15);
}

TEST_F(DiskStoreTest, AnEmptyPayloadIsAnEntry) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "");
  EXPECT_EQ(load(store, kernel, keyOf(1)), "");
}

TEST_F(DiskStoreTest, AnEntryIsReplacedAsAWhole) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "a longer text");
  store.store(kernel, keyOf(1), "short");
  EXPECT_EQ(load(store, kernel, keyOf(1)), "short");
  store.remove(kernel, keyOf(1));
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
}

TEST_F(DiskStoreTest, TheFolderIsMadeForItsOwnerAlone) {
  DiskStore store(folder + "/a/b");
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
  EXPECT_FALSE(exists(folder));
  store.store(kernel, keyOf(1), "object");
  EXPECT_EQ(modeOf(folder), 0700u);
  EXPECT_EQ(modeOf(folder + "/a/b"), 0700u);
  EXPECT_EQ(modeOf(folder + "/a/b/kernel-" + toHex(keyOf(1))), 0600u);
}

TEST_F(DiskStoreTest, AFolderThatOthersMayWriteToIsNotUsed) {
  DiskStore(folder).store(kernel, keyOf(1), "object");
  chmod(folder.c_str(), 0720);
  DiskStore store(folder);
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
  store.store(kernel, keyOf(2), "object");
  EXPECT_FALSE(exists(fileOf(kernel, keyOf(2))));
  std::string reason = "other users may write to the folder " + folder +
                       "; expected write permission for its owner alone";
  EXPECT_EQ(store.getStatistics().disabledReason, reason);
  EXPECT_EQ(toString(store.getUsage().takeError()), reason);
  EXPECT_EQ(toString(store.clear().takeError()), reason);
  EXPECT_EQ(toString(store.prune(0).takeError()), reason);
}

TEST_F(DiskStoreTest, AnotherUsersFolderIsNotUsed) {
  // As root a folder can be given away; otherwise root's own will do.
  std::string foreign = "/";
  if (geteuid() == 0) {
    ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
    ASSERT_EQ(chown(folder.c_str(), 65534, 65534), 0);
    foreign = folder;
  }
  DiskStore store(foreign);
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
  EXPECT_EQ(store.getStatistics().disabledReason,
            "the folder " + foreign + " belongs to another user");
}

TEST_F(DiskStoreTest, FilesThatOthersMayWriteToAreNotUsed) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  chmod(fileOf(kernel, keyOf(1)).c_str(), 0602);
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
  EXPECT_FALSE(exists(fileOf(kernel, keyOf(1))));
  if (geteuid() == 0) {
    store.store(kernel, keyOf(2), "object");
    ASSERT_EQ(chown(fileOf(kernel, keyOf(2)).c_str(), 65534, 65534), 0);
    EXPECT_EQ(load(store, kernel, keyOf(2)), "a miss");
    EXPECT_FALSE(exists(fileOf(kernel, keyOf(2))));
  }
}

TEST_F(DiskStoreTest, LinksAndPipesAreNotFollowed) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  ASSERT_EQ(symlink(fileOf(kernel, keyOf(1)).c_str(),
                    fileOf(kernel, keyOf(2)).c_str()),
            0);
  ASSERT_EQ(mkfifo(fileOf(kernel, keyOf(3)).c_str(), 0600), 0);
  ASSERT_EQ(mkdir(fileOf(kernel, keyOf(4)).c_str(), 0700), 0);
  for (int key : {2, 3, 4})
    EXPECT_EQ(load(store, kernel, keyOf(key)), "a miss");
  EXPECT_EQ(store.getStatistics().rejected, 3);
  EXPECT_FALSE(exists(fileOf(kernel, keyOf(2))));
  EXPECT_FALSE(exists(fileOf(kernel, keyOf(3))));
  EXPECT_EQ(load(store, kernel, keyOf(1)), "object");
}

TEST_F(DiskStoreTest, EveryDamagedByteIsNoticed) {
  DiskStore store(folder);
  std::string path = fileOf(program, keyOf(1));
  store.store(program, keyOf(1), "a program");
  std::string good = read(path);
  for (size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] ^= 1 << at % 8;
    write(path, bad);
    EXPECT_EQ(load(store, program, keyOf(1)), "a miss") << at;
    EXPECT_FALSE(exists(path));
    write(path, good.substr(0, at));
    EXPECT_EQ(load(store, program, keyOf(1)), "a miss") << at;
  }
  write(path, good + "x");
  EXPECT_EQ(load(store, program, keyOf(1)), "a miss");
  write(path, good);
  EXPECT_EQ(load(store, program, keyOf(1)), "a program");
}

TEST_F(DiskStoreTest, AnEntryUnderAnotherNameIsRejected) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  std::string text = read(fileOf(kernel, keyOf(1)));
  write(fileOf(kernel, keyOf(2)), text);
  write(fileOf(program, keyOf(1)), text);
  EXPECT_EQ(load(store, kernel, keyOf(2)), "a miss");
  EXPECT_EQ(load(store, program, keyOf(1)), "a miss");
  EXPECT_EQ(store.getStatistics().rejected, 2);
}

TEST_F(DiskStoreTest, AHugeForeignFileIsNotReadIntoMemory) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  ASSERT_EQ(truncate(fileOf(kernel, keyOf(1)).c_str(), off_t(1) << 42), 0);
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
}

TEST_F(DiskStoreTest, AFullDiskEndsWriting) {
  // A limit on the size of files fails as a full disk does, with another code.
  EXPECT_TRUE(isTrueInChild([&] {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit = {200, 200};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskStore store(folder);
    store.store(kernel, keyOf(1), "object");
    store.store(kernel, keyOf(2), std::string(1000, 'x'));
    store.store(kernel, keyOf(3), "object");
    return store.getStatistics().writes == 1 &&
           store.getStatistics().disabledReason ==
               "an entry could not be written to " + folder +
                   ": File too large" &&
           load(store, kernel, keyOf(1)) == "object" &&
           load(store, kernel, keyOf(2)) == "a miss";
  }));
  EXPECT_EQ(llvm::cantFail(DiskStore(folder).getUsage()).temporaries, 0);
}

TEST_F(DiskStoreTest, AReadOnlyFolderIsRead) {
  DiskStore(folder).store(kernel, keyOf(1), "object");
  chmod(folder.c_str(), 0500);
  EXPECT_TRUE(isTrueInChild([&] {
    // Root may write to every folder, so it becomes somebody else.
    constexpr uid_t nobody = 65534;
    if (geteuid() == 0)
      for (const std::string &path : {parent, folder, fileOf(kernel, keyOf(1))})
        if (chown(path.c_str(), nobody, nobody) != 0)
          return false;
    if (geteuid() == 0 && setresuid(nobody, nobody, nobody) != 0)
      return false;
    DiskStore store(folder);
    store.store(kernel, keyOf(2), "object");
    return store.getStatistics().disabledReason ==
               "an entry could not be written to " + folder +
                   ": Permission denied" &&
           load(store, kernel, keyOf(1)) == "object";
  }));
}

TEST_F(DiskStoreTest, AFolderThatCannotBeMadeEndsWriting) {
  write(folder, "a file in the way");
  DiskStore store(folder + "/cache");
  store.store(kernel, keyOf(1), "object");
  EXPECT_NE(store.getStatistics().disabledReason.find("Not a directory"),
            std::string::npos);
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
}

TEST_F(DiskStoreTest, AFolderThatWasRemovedIsMadeAgain) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  ASSERT_FALSE(llvm::sys::fs::remove_directories(folder));
  EXPECT_EQ(load(store, kernel, keyOf(1)), "a miss");
  store.store(kernel, keyOf(1), "object");
  EXPECT_EQ(load(store, kernel, keyOf(1)), "object");
}

TEST_F(DiskStoreTest, ClearingSparesFilesOfOthers) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  store.store(program, keyOf(1), "plan");
  write(folder + "/temporary-1-2", "part");
  write(folder + "/kernel-notes", "mine");
  write(folder + "/program-" + std::string(64, 'x'), "mine");
  write(folder + "/temporary-notes", "mine");
  DiskUsage removed = llvm::cantFail(store.clear());
  EXPECT_EQ(removed.kernels, 1);
  EXPECT_EQ(removed.programs, 1);
  EXPECT_EQ(removed.temporaries, 1);
  EXPECT_EQ(removed.bytes, 2 * 88 + 6 + 4 + 4);
  EXPECT_TRUE(exists(folder + "/kernel-notes"));
  EXPECT_TRUE(exists(folder + "/temporary-notes"));
  EXPECT_EQ(llvm::cantFail(store.getUsage()).bytes, 0);
}

TEST_F(DiskStoreTest, AFolderThatIsNotThereIsEmpty) {
  DiskStore store(folder);
  EXPECT_EQ(llvm::cantFail(store.getUsage()).bytes, 0);
  EXPECT_EQ(llvm::cantFail(store.clear()).bytes, 0);
  EXPECT_EQ(llvm::cantFail(store.prune(0)).bytes, 0);
  EXPECT_FALSE(exists(folder));
}

TEST_F(DiskStoreTest, PruningRemovesTheLeastRecentlyUsed) {
  DiskStore store(folder);
  for (int i = 0; i < 4; ++i) {
    store.store(kernel, keyOf(i), std::string(12, 'x'));
    setAge(fileOf(kernel, keyOf(i)), 100000 - i);
  }
  // A hit makes the oldest the youngest.
  EXPECT_NE(load(store, kernel, keyOf(0)), "a miss");
  DiskUsage removed = llvm::cantFail(store.prune(250));
  EXPECT_EQ(removed.kernels, 2);
  EXPECT_EQ(removed.bytes, 200);
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(exists(fileOf(kernel, keyOf(i))), i == 0 || i == 3) << i;
}

TEST_F(DiskStoreTest, PruningRemovesWhatKilledProcessesLeft) {
  DiskStore store(folder);
  store.store(kernel, keyOf(1), "object");
  write(folder + "/temporary-1-2", "left");
  write(folder + "/temporary-1-3", "being written");
  setAge(folder + "/temporary-1-2", 100000);
  DiskUsage removed = llvm::cantFail(store.prune(1 << 20));
  EXPECT_EQ(removed.temporaries, 1);
  EXPECT_FALSE(exists(folder + "/temporary-1-2"));
  EXPECT_TRUE(exists(folder + "/temporary-1-3"));
  EXPECT_EQ(load(store, kernel, keyOf(1)), "object");
}

TEST_F(DiskStoreTest, TheFolderStaysWithinItsBound) {
  constexpr int64_t maxBytes = 10000;
  DiskStore store(folder, maxBytes);
  for (int i = 0; i < 100; ++i) {
    store.store(kernel, keyOf(i), std::string(912, 'x'));
    EXPECT_LE(llvm::cantFail(store.getUsage()).bytes, maxBytes);
  }
  EXPECT_GE(llvm::cantFail(store.getUsage()).bytes, maxBytes / 2);
  EXPECT_NE(load(store, kernel, keyOf(99)), "a miss");
  store.store(program, keyOf(1), std::string(maxBytes, 'x'));
  EXPECT_EQ(load(store, program, keyOf(1)), "a miss");
  EXPECT_EQ(store.getStatistics().disabledReason, "");
}

TEST_F(DiskStoreTest, ThreadsAndProcessesShareAFolder) {
  auto payloadOf = [](int i) { return std::string(1000 + i, char('a' + i)); };
  auto work = [&](unsigned seed) {
    DiskStore store(folder, 20000);
    for (int step = 0; step < 200; ++step) {
      int i = (step * 7 + seed * 5) % 13;
      if (step % 3 == int(seed % 3))
        store.store(kernel, keyOf(i), payloadOf(i));
      auto found = store.load(kernel, keyOf(i));
      if (found && found->getBuffer() != payloadOf(i))
        return false;
    }
    return store.getStatistics().disabledReason.empty() &&
           store.getStatistics().rejected == 0;
  };
  std::vector<pid_t> children;
  for (unsigned seed = 0; seed < 3; ++seed) {
    pid_t child = fork();
    if (child == 0)
      _exit(work(seed) ? 0 : 1);
    children.push_back(child);
  }
  bool isRight[2] = {};
  std::thread one([&] { isRight[0] = work(3); });
  std::thread two([&] { isRight[1] = work(4); });
  one.join();
  two.join();
  EXPECT_TRUE(isRight[0] && isRight[1]);
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

TEST_F(DiskStoreTest, KilledProcessesLeaveNoPartOfAnEntry) {
  std::string payload(1 << 20, 'x');
  for (int round = 0; round < 10; ++round) {
    pid_t child = fork();
    if (child == 0) {
      DiskStore store(folder);
      for (uint64_t i = 0;; i = (i + 1) % 4)
        store.store(kernel, keyOf(i), payload);
    }
    usleep(1000 * (round + 1));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    DiskStore store(folder);
    for (uint64_t i = 0; i < 4; ++i)
      if (auto found = store.load(kernel, keyOf(i)))
        EXPECT_TRUE(found->getBuffer() == payload);
    EXPECT_EQ(store.getStatistics().rejected, 0);
  }
}

TEST(DiskKeyTest, TellsWhatItIsMadeOf) {
  auto keyOf = [](auto... parts) {
    DiskKeyBuilder builder;
    (builder.add(parts), ...);
    return builder.finish();
  };
  using llvm::StringRef;
  EXPECT_EQ(keyOf(StringRef("ab"), StringRef("c")),
            keyOf(StringRef("ab"), StringRef("c")));
  EXPECT_NE(keyOf(StringRef("ab"), StringRef("c")),
            keyOf(StringRef("a"), StringRef("bc")));
  EXPECT_NE(keyOf(StringRef("ab")), keyOf(StringRef("ab"), StringRef("")));
  EXPECT_NE(keyOf(uint64_t(1)), keyOf(uint64_t(2)));
  const bool one[] = {true}, two[] = {true, false};
  EXPECT_NE(keyOf(llvm::ArrayRef(one)), keyOf(llvm::ArrayRef(two)));
  EXPECT_EQ(toHex(DiskKey{0x01, 0xab}).substr(0, 6), "01ab00");
}

TEST(BuildIdentityTest, NamesThisLibraryAndTheCompilersItUses) {
  auto identity = getBuildIdentity();
  ASSERT_TRUE(identity);
  EXPECT_EQ(std::count(identity->begin(), identity->end(), ' '), 3);
  EXPECT_EQ(identity, getBuildIdentity());
}

} // namespace
