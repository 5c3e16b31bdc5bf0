module example.com/service

go 1.24
require github.com/spf13/cobra v1.9.1
require github.com/spf13/viper v1.20.0
require github.com/gin-gonic/gin v1.10.0
require github.com/go-chi/chi/v5 v5.2.1
require github.com/gorilla/websocket v1.5.3
require github.com/jackc/pgx/v5 v5.7.2
require github.com/redis/go-redis/v9 v9.7.0
require go.uber.org/zap v1.27.0
require github.com/rs/zerolog v1.33.0
require github.com/stretchr/testify v1.10.0
require github.com/google/uuid v1.6.0
require github.com/golang-jwt/jwt/v5 v5.2.1
require golang.org/x/sync v0.11.0
require golang.org/x/crypto v0.33.0
require golang.org/x/time v0.10.0
require github.com/prometheus/client_golang v1.20.5
require gopkg.in/yaml.v3 v3.0.1
require github.com/pelletier/go-toml/v2 v2.2.3
require github.com/fsnotify/fsnotify v1.8.0
require github.com/hashicorp/golang-lru/v2 v2.0.7
require github.com/cenkalti/backoff/v4 v4.3.0
require github.com/robfig/cron/v3 v3.0.1
require github.com/google/go-cmp v0.6.0
require github.com/go-playground/validator/v10 v10.24.0
require github.com/nats-io/nats.go v1.39.0
require go.etcd.io/bbolt v1.4.0
require github.com/klauspost/compress v1.17.11
require github.com/samber/lo v1.49.1
require github.com/jmoiron/sqlx v1.4.0
require github.com/urfave/cli/v3 v3.0.0-beta1
